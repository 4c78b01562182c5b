"""Bytes, numbers, matrices and structures in the memories of stopped kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from emulator.tensor_texts import COMMIT, WAIT, WORDS, by_thread_0, fill, share, tensor_kernel
from observe.debug.stopped import CORPUS, executing, stopped, stopped_example

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import SHARED_START, SHARED_WINDOW
from warploom.emulator.emulator import Emulator
from warploom.emulator.waiting import in_flight
from warploom.isa.model.effects import Issue
from warploom.layout import Descriptor, InstructionDescriptor, SharedMap, UmmaDescriptor
from warploom.layout.tensor_memory import accumulator
from warploom.observe.debug.lines import LineIndex
from warploom.observe.debug.memory import MemoryView, Thread

TEXT = """\
.version 8.6
.target sm_90a
.address_size 64
.global .align 8 .u32 table[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 data, .param .u32 factor)
{
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p;
    .shared .align 16 .b8 area[64]; .shared .b64 bar; .local .b32 own[2];
    .reg .b32 %other;
    ld.param.u64 %rd0, [data];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %cluster_ctarank;
    mov.u64 %rd1, table;
    st.local.u32 [own+4], %r0;
    setp.eq.u32 %p, %r0, 0;
    mad.lo.u32 %r2, %r1, 100, 7;
    @%p st.shared.u32 [area+8], %r2;
    @%p mbarrier.init.shared.b64 [bar], 3;
    bar.sync 0;
    @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;
    mov.u32 %r5, 0;
    ret;
}
"""
DATA = np.arange(16, dtype=np.float32) / 4


@pytest.fixture(scope="module")
def plain() -> Emulator:
    return stopped(
        TEXT, lambda program: [len(program.steps) - 2], args=[DATA.copy(), 42], grid=2, block=64, cluster=(2, 1, 1)
    )


def view(emulator: Emulator) -> MemoryView:
    return MemoryView(emulator)


def thread_of(emulator: Emulator, cta: int, warp: int = 0, lane: int = 0) -> Thread:
    topology = emulator.topology
    (found,) = np.flatnonzero((topology.cta_of == cta) & (topology.warp_in_cta == warp))
    return Thread(int(found), lane)


def test_global_memory_by_address_and_by_variable(plain: Emulator) -> None:
    found, thread = view(plain), Thread(0)
    address = plain.arena.segments[0].start
    np.testing.assert_array_equal(found.elements("global", address, "f32", 16, thread), DATA)
    np.testing.assert_array_equal(found.bytes("generic", address + 4, 4, thread), DATA.view(np.uint8)[4:8])
    space, at, size = found.variable("table", 0, thread)
    assert (space, size) == ("global", 16)
    assert found.elements(space, at, "u32", 4, thread).tolist() == [1, 2, 3, 4]


def test_parameters(plain: Emulator) -> None:
    found = view(plain)
    assert found.variable("factor", 0, Thread(0)) == ("param", 8, 4)
    assert found.elements("param", 8, "u32", 1, Thread(0)).tolist() == [42]


def test_shared_memory_of_each_cta(plain: Emulator) -> None:
    found = view(plain)
    space, at, size = found.variable("area", 0, Thread(0))
    assert (space, size) == ("shared", 64)
    for cta in (0, 1):
        own, other = thread_of(plain, cta, 1), thread_of(plain, 1 - cta)
        assert found.elements("shared", at + 8, "u32", 1, own).tolist() == [7 + 100 * cta]
        remote = at + 8 + (1 << 24)  # rank 1, whichever CTA reads
        assert found.elements("shared", remote, "u32", 1, other).tolist() == [107]
        assert found.elements("generic", SHARED_WINDOW + at + 8, "u32", 1, own).tolist() == [7 + 100 * cta]


def test_local_memory_of_each_lane(plain: Emulator) -> None:
    found = view(plain)
    space, at, _ = found.variable("own", 0, Thread(0))
    for warp, lane in ((0, 0), (0, 31), (1, 5)):
        thread = thread_of(plain, 1, warp, lane)
        assert found.elements(space, at + 4, "u32", 1, thread).tolist() == [32 * warp + lane]


@pytest.mark.parametrize(
    ("space", "address", "size", "message"),
    [
        ("global", 0x100, 4, "is out of bounds"),
        ("shared", SHARED_START + 4096, 4, "is out of bounds: the CTA has"),
        ("shared", SHARED_START - 4, 4, "is out of bounds"),
        ("shared", 2 << 24 | SHARED_START, 4, "names CTA rank 2; the cluster has 2"),
        ("local", 4, 8, "the thread has 8 bytes"),
        ("local", -4, 4, "the thread has 8 bytes"),
        ("param", 12, 4, "is out of bounds"),
        ("shard", 0, 4, "unknown state space 'shard'"),
        ("global", 0, -1, "expected at least 0"),
    ],
)
def test_memory_outside_is_refused(plain: Emulator, space: str, address: int, size: int, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        view(plain).bytes(space, address, size, Thread(0))
    assert caught.value.diagnostics[0].code == "debug.memory"


def test_an_unknown_variable_is_refused_with_a_similar_one(plain: Emulator) -> None:
    with pytest.raises(UsageError) as caught:
        view(plain).variable("areas", 0, Thread(0))
    assert caught.value.diagnostics[0].hint == "did you mean 'area'?"


def test_a_read_is_a_copy(plain: Emulator) -> None:
    address = plain.arena.segments[0].start
    view(plain).bytes("global", address, 4, Thread(0))[:] = 255
    assert plain.arena.view(plain.arena.segments[0])[:4].tolist() == [0, 0, 0, 0]


def test_an_mbarrier_is_decoded(plain: Emulator) -> None:
    found = view(plain)
    _, at, _ = found.variable("bar", 0, Thread(0))
    for cta in (0, 1):
        (each,) = found.mbarriers(cta)
        assert (each.cta, each.address, each.waiting) == (cta, at, ())
        state = each.state
        assert (state.is_initialised, state.phase, state.expected, state.arrivals, state.bytes) == (True, 0, 3, 2, 48)
    with pytest.raises(UsageError, match="expected a multiple of 8"):
        found.mbarrier(at + 4, Thread(0))


# Matrices in shared memory --------------------------------------------------------------------------------


def multiplying(schedule: str = "eager", count: int = 1) -> tuple[Emulator, dict[str, np.ndarray]]:
    return stopped_example(
        "gemm_warp_specialised.toml", lambda program: program.analysis(LineIndex).of_kind("multiply")[:1],
        schedule=schedule, count=count,
    )  # fmt: skip


def test_the_operands_of_a_multiplication_are_parts_of_the_arguments() -> None:
    emulator, arrays = multiplying("lazy", count=2)
    pc, found = emulator.state.pc, view(emulator)
    a, b = (found.operand(pc, name, Thread(0)) for name in ("A", "b_desc"))
    np.testing.assert_array_equal(a.numbers, arrays["a"][:64, 64:80])
    np.testing.assert_array_equal(b.numbers, arrays["b"][:128, 64:80])
    assert a.name == "wgmma m64n128k16 f16 A in the shared memory of CTA (0, 0, 0)"
    later = found.operand(pc + 1, "A", Thread(0))
    np.testing.assert_array_equal(later.numbers, arrays["a"][:64, 80:96])


def test_a_tile_by_its_descriptor() -> None:
    emulator, arrays = multiplying()
    pc, found = emulator.state.pc, view(emulator)
    operand = emulator.linked[pc].operands.a_desc
    value = int(executing(emulator).read(operand)[0, 0])
    descriptor = found.descriptor(value)
    assert type(descriptor) is Descriptor
    assert (descriptor.swizzle, descriptor.encode()) == (128, value)
    wide = found.tile(descriptor.tile(64, 64, "f16"), "f16", Thread(0))
    np.testing.assert_array_equal(wide.numbers, arrays["a"][:64, :64])


def test_a_transposed_operand() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=size).astype(np.float16) for size in ((128, 64), (64, 128)))
    args = [a, b, np.zeros((128, 128), np.float16), 128, 128, 64, 64, 128, 128, None, None]
    emulator = stopped(
        (CORPUS / "gemm_f16_nn_sm90.ptx").read_text(),
        lambda program: program.analysis(LineIndex).of_kind("multiply")[:1], args=args, block=128, shared=49152,
    )  # fmt: skip
    found = view(emulator).operand(emulator.state.pc, "B", Thread(0))
    np.testing.assert_array_equal(found.numbers, b[:16].T)


def test_the_boxes_of_tensor_copies() -> None:
    emulator, arrays = multiplying()
    found = view(emulator)
    (producer,) = np.flatnonzero(emulator.topology.warp_in_cta == 6)
    copies = emulator.program.analysis(LineIndex).of_kind("copy")
    loads = [pc for pc in copies if any(each.mbarrier for each in _issues(emulator, pc))]
    for pc, name in zip(loads, "ab", strict=True):
        box = found.operand(pc, "box", Thread(int(producer))).numbers
        assert box.shape == (128, 64)
        assert any((arrays[name][:128, k : k + 64] == box).all() for k in range(0, 512, 64))


def _issues(emulator: Emulator, pc: int) -> tuple[Issue, ...]:
    return emulator.program.steps[pc].binding.form.effects_of(Issue)


def test_a_tensor_map_is_decoded() -> None:
    emulator, arrays = multiplying()
    fields = view(emulator).tensor_map(emulator.parameters)
    assert (fields.element_type, fields.box[:2], fields.swizzle_span) == ("f16", (64, 128), 128)
    assert fields.global_dim[:2] == arrays["a"].shape[::-1]


def test_a_register_operand_is_refused() -> None:
    emulator, _ = multiplying()
    with pytest.raises(UsageError, match="'d' is in registers"):
        view(emulator).operand(emulator.state.pc, "D", Thread(0))


def test_descriptors_are_told_apart() -> None:
    umma = UmmaDescriptor.packed(64, 16, "f16", swizzle=128)
    found = MemoryView.descriptor(umma.encode())
    assert found == umma
    fields = InstructionDescriptor("f16", 128, 64, "f16", "f16")
    assert MemoryView.instruction(fields.encode(), "f16") == fields


# Tensor memory --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tensor() -> Emulator:
    text = tensor_kernel(fill(64) + "mov.u32 %r2, 0;\nbar.sync 0;\nmov.u32 %r3, 1;", columns=64)
    data = WORDS[:, :64].copy()
    return stopped(
        text,
        lambda program: [program.analysis(LineIndex).at_line(text.splitlines().index("mov.u32 %r3, 1;") + 1)[0]],
        args=[data, np.zeros(4, np.uint32)], block=128,
    )  # fmt: skip


def test_a_rectangle_of_tensor_memory(tensor: Emulator) -> None:
    found = view(tensor).tensor(5 << 16 | 8, 3, 4, "b32", Thread(0))
    np.testing.assert_array_equal(found.numbers, WORDS[5:8, 8:12])
    assert (found.first_row, found.first_col) == (5, 8)
    halves = view(tensor).tensor(5 << 16 | 8, 3, 4, "u16x2", Thread(0))
    np.testing.assert_array_equal(halves.numbers, WORDS[5:8, 8:12].copy().view(np.uint16))
    assert halves.first_col == 16


def test_an_accumulator_in_tensor_memory(tensor: Emulator) -> None:
    fields = InstructionDescriptor("f16", 64, 32, "f16", "f16", dtype="f32")
    found = view(tensor).tensor_matrix(accumulator(fields, 1), 16, "f32", Thread(0))
    rows = np.concatenate([np.arange(16) + 32 * group for group in range(4)])  # M = 64 uses half of the lanes
    np.testing.assert_array_equal(found.numbers, WORDS[rows, 16:48].copy().view(np.float32))


def test_unallocated_tensor_memory_is_refused(tensor: Emulator) -> None:
    with pytest.raises(UsageError, match="uses column 64 of tensor memory, which is not allocated"):
        view(tensor).tensor(60, 1, 8, "b32", Thread(0))
    with pytest.raises(UsageError, match="a column has 32 bits"):
        view(tensor).tensor(0, 1, 1, "f64", Thread(0))


def test_elements_narrower_than_a_byte(plain: Emulator) -> None:
    found, thread = view(plain), thread_of(plain, 1)
    first = 8 * (found.variable("area", 0, thread)[1] + 8)  # the word 107 is 0b0110_1011
    for bits, expected in ((4, [11, 6, 0]), (6, [43, 1, 0])):
        at = first + bits * np.arange(3)[None, :]
        tile = found.tile(SharedMap("tile", "", 1, 3, bits, at), "u4", thread)
        assert tile.numbers.tolist() == [expected]


PRODUCT = InstructionDescriptor("f16", 128, 64, "f16", "f16", dtype="f32")
MATRICES = np.random.default_rng(3).normal(size=(192, 16)).astype(np.float16)  # A and, from row 128 on, B


def multiplication(line: str, schedule: str = "eager") -> Emulator:
    """Return a kernel with one multiplication in tensor memory, before the instruction of a line."""
    a = UmmaDescriptor.packed(128, 16, "f16")
    b = replace(UmmaDescriptor.packed(64, 16, "f16"), start_address=SHARED_START + 4096)
    body = (
        share(6144)
        + f"""
    mov.u64 %rd2, {replace(a, start_address=SHARED_START).encode()};
    mov.u64 %rd3, {b.encode()};
    mov.u32 %r4, {PRODUCT.encode()};
    setp.ne.u32 %p1, %r0, %r0;
    """
    )
    product = "tcgen05.mma.cta_group::1.kind::f16 [%t], %rd2, %rd3, %r4, %p1;\n"
    body += by_thread_0(f"{product}mov.u32 %r7, 0;\n{product}{COMMIT}")
    text = tensor_kernel(f"{body}mov.u32 %r5, 0;\n{WAIT}mov.u32 %r6, 0;", columns=64)
    number = next(number for number, each in enumerate(text.splitlines(), 1) if each.startswith(line))
    # A matrix without a swizzle consists of 8 x 8 parts; the parts of a column of parts are adjacent.
    data = np.concatenate([_in_parts(MATRICES[:128]), _in_parts(MATRICES[128:])])
    return stopped(
        text, lambda program: program.analysis(LineIndex).at_line(number), args=[data, np.zeros(4, np.uint32)],
        block=128, schedule=schedule,
    )  # fmt: skip


def _in_parts(matrix: np.ndarray) -> np.ndarray:
    return matrix.reshape(-1, 8, 2, 8).transpose(2, 0, 1, 3).reshape(-1)


def test_the_operands_of_a_multiplication_in_tensor_memory() -> None:
    emulator = multiplication("tcgen05.mma")
    pc, found = emulator.state.pc, view(emulator)
    a, b = (found.operand(pc, name, Thread(0)) for name in "AB")
    np.testing.assert_array_equal(a.numbers, MATRICES[:128])
    np.testing.assert_array_equal(b.numbers, MATRICES[128:])
    emulator = multiplication("mov.u32 %r7")
    assert [each.kind for each in in_flight(emulator.asynchronous)] == ["tensor multiplication"]
    d = view(emulator).operand(pc, "D", Thread(0))
    assert (d.element, d.numbers.shape) == ("f32", (128, 64))
    wide = MATRICES.astype(np.float64)
    np.testing.assert_allclose(d.numbers, wide[:128] @ wide[128:].T, rtol=1e-5, atol=1e-5)


def test_operations_on_tensor_memory_in_flight() -> None:
    assert in_flight(multiplication("mov.u32 %r5").asynchronous) == []
    emulator = multiplication("mov.u32 %r5", "lazy")
    product, second, commit = in_flight(emulator.asynchronous)
    assert (second.kind, second.number) == ("tensor multiplication", 1)
    assert (product.kind, commit.kind) == ("tensor multiplication", "tensor commit")
    assert (product.warps, product.lane, product.number, commit.number) == ((0,), 0, 0, 2)
    bar = view(emulator).variable("bar", 0, Thread(0))[1]
    assert (commit.mbarrier, product.mbarrier) == (bar, -1)
    assert in_flight(multiplication("mov.u32 %r6", "lazy").asynchronous) == []
