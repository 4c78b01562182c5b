"""Softmax of the rows of a matrix in f32.

A CTA of 128 threads computes a row of at most 128 elements. Each keyword parameter plants a fault if its
value is not the default.
"""

from warploom import author as au
from warploom.author import f32, new, pointer, ptx, special, u32, when

THREADS = 128
LOG2_E = 1.4426950408889634


@au.kernel(target="sm_80")
def softmax(x: pointer(f32), y: pointer(f32), columns: u32, *, synchronizes: bool = True, converges: bool = True):
    au.bounds(threads=THREADS)
    parts = au.shared(4 * THREADS // 32)
    thread = special("tid.x")
    warp, lane = thread >> 5, thread & 31
    place = special("ctaid.x") * columns + thread
    inside = thread < columns

    def reduce(value, join):
        """Combine a value of all threads: in each warp by shuffles, then between the warps by shared memory."""
        for distance in (16, 8, 4, 2, 1):
            value = join(value, ptx.shfl_bfly(value, distance, 31, -1).view(f32))
        with when(lane == 0):
            ptx.st((parts.address() + warp * 4).at(space="shared"), value, type=f32)
        if synchronizes:
            ptx.bar(0)
        found = ptx.ld(parts.at(), vec="v4", type=f32)
        return join(join(found[0], found[1]), join(found[2], found[3]))

    value = new(f32, float("-inf"))
    with when(inside):
        value.set(x[place])
    largest = reduce(value, lambda a, b: ptx.max(a, b, type=f32))
    power = ptx.ex2((value - largest) * LOG2_E, approx=True, type=f32)
    ptx.bar(0)
    total = reduce(power, lambda a, b: a + b)
    with when(inside):
        if not converges:
            ptx.bar(0)
        y[place] = ptx.div(power, total, rnd="rn", type=f32)
