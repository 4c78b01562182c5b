"""Order of the operations on tensor memory: what a kernel may rely on under every schedule, and what it may not."""

from __future__ import annotations

import numpy as np
import pytest
from emulator.tensor_texts import COMMIT, WAIT, WORDS, by_thread_0, dump, fill, launch, registers, share, tensor_kernel

import warploom as wl

DELAYED = ("lazy", "random:0", "random:1", "random:2", "random:3", "random:4", "random:5")
M, N, K = 128, 32, 16
A_TILE, B_TILE = wl.UmmaDescriptor.packed(M, K, "f16"), wl.UmmaDescriptor.packed(N, K, "f16")
IDESC = wl.InstructionDescriptor("f16", M, N, "f16", "f16").encode()
PREPARE = f"""
mov.u32 %r2, area; shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2;
add.u64 %rd3, %rd2, {A_TILE.encode()}; add.u64 %rd4, %rd2, {B_TILE.encode() + (8192 >> 4)};
mov.u32 %r3, {IDESC}; setp.ne.u32 %p1, %r0, %r0; setp.eq.u32 %p2, %r0, %r0;
"""
MMA = "tcgen05.mma.cta_group::1.kind::f16 [%t{}], %rd3, %rd4, %r3, {};\n"


def tiles(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B and the bytes of shared memory with both."""
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-4, 5, (rows, K)).astype(np.float16) for rows in (M, N))
    data = np.zeros(32768, np.uint8)
    data[:8192].view(np.float16)[A_TILE.addresses(M, K, 2) // 2] = a
    data[8192:16384].view(np.float16)[B_TILE.addresses(N, K, 2) // 2] = b
    return a.astype(np.float32), b.astype(np.float32), data


def results(body: str, data: np.ndarray, columns: int = 64, **options: object) -> dict[str, np.ndarray]:
    """Return what a kernel leaves in `out` under each schedule."""
    text = tensor_kernel(body, columns=columns)
    out = np.zeros((128, columns), np.uint32)
    return {each: launch(text, data, out, each, **options) for each in ("eager", *DELAYED)}  # type: ignore[arg-type]


def differs(body: str, data: np.ndarray, columns: int = 64) -> bool:
    """Return True if the schedule `lazy` gives another result than `eager`, or ends with a fault of tensor memory."""
    text = tensor_kernel(body, columns=columns)
    out = np.zeros((128, columns), np.uint32)
    eager = launch(text, data, out, "eager")
    found = out.copy()
    args = [data, found]
    done = wl.launch(text, grid=1, block=128, args=args, schedule="lazy", raises=False)
    # If the columns have been released when an operation takes effect, the run ends with a fault.
    assert {each.code for each in done.findings} <= {"emulator.tensor-memory"}
    return bool(done.findings) or not np.array_equal(eager, found)


def test_multiplications_of_one_accumulator_are_ordered() -> None:
    a, b, data = tiles()
    mmas = MMA.format("", "%p1") + MMA.format("", "%p2") * 2
    found = results(share() + PREPARE + by_thread_0(mmas + COMMIT) + WAIT + dump(64), data)
    for schedule, words in found.items():
        np.testing.assert_array_equal(words[:, :N].view(np.float32), 3 * a @ b.T, schedule)


def test_a_multiplication_takes_effect_only_before_its_commit_is_awaited() -> None:
    _, _, data = tiles()
    start = share() + PREPARE
    assert differs(start + by_thread_0(MMA.format("", "%p1") + COMMIT) + "bar.sync 0;\n" + dump(64), data)
    assert not differs(start + by_thread_0(MMA.format("", "%p1") + COMMIT) + WAIT + dump(32), data, 32)


def test_a_store_after_a_multiplication_does_not_change_it_under_the_eager_schedule() -> None:
    # Multiplications that add to the same D are executed together, but not across other instructions.
    a, b, data = tiles()
    store = "mov.u32 %r4, area; st.shared.v4.u32 [%r4], {0, 0, 0, 0};\n"
    mma = by_thread_0(MMA.format("", "%p1") + store + MMA.format("", "%p2") + COMMIT)
    changed = a.copy()
    changed[0, :8] = 0
    text = tensor_kernel(share() + PREPARE + mma + WAIT + dump(32), columns=32)
    found = launch(text, data, np.zeros((128, 32), np.uint32), "eager").view(np.float32)
    np.testing.assert_array_equal(found, (a + changed) @ b.T)


def test_a_stage_must_not_be_refilled_before_its_commit() -> None:
    _, _, data = tiles()
    refill = "mov.u32 %r4, area; shl.b32 %r5, %r0, 6; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r0;\n"
    refill += "fence.proxy.async; bar.sync 0;\n"
    mma = by_thread_0(MMA.format("", "%p1") + COMMIT)
    assert differs(share() + PREPARE + mma + refill + WAIT + dump(32), data, 32)
    assert not differs(share() + PREPARE + mma + WAIT + refill + dump(32), data, 32)


@pytest.mark.parametrize("waits", [False, True])
def test_a_store_takes_effect_at_its_wait(waits: bool) -> None:
    # A is stored to tensor memory, and a multiplication reads it there.
    a, b, data = tiles()
    pairs = np.ascontiguousarray(a.astype(np.float16)).view(np.uint32)  # (128, 8)
    wide = np.zeros((128, 64), np.uint32)
    wide[:, :8] = pairs
    both = np.concatenate([wide.reshape(-1).view(np.uint8), data[8192:]])
    load = "mul.lo.u32 %r6, %r0, 256; cvt.u64.u32 %rd5, %r6; add.u64 %rd5, %rd0, %rd5;\n"
    load += "".join(f"ld.global.u32 %v{i}, [%rd5+{4 * i}];\n" for i in range(8))
    store = f"tcgen05.st.sync.aligned.32x32b.x8.b32 [%w+40], {registers(8)};\n"
    store += "tcgen05.wait::st.sync.aligned;\n" * waits
    store += "tcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n"
    mma = "tcgen05.mma.cta_group::1.kind::f16 [%t], [%t+40], %rd4, %r3, %p1;\n" + COMMIT
    late = "tcgen05.wait::st.sync.aligned;\n" * (not waits)
    prepare = PREPARE.replace(f"{B_TILE.encode() + (8192 >> 4)}", f"{B_TILE.encode() + (32768 >> 4)}")
    body = share(49152) + prepare + load + store + by_thread_0(mma) + WAIT + late + dump(32)
    text = tensor_kernel(body.replace("%w+40", "%w+40"), columns=64, shared=65536)
    text = text.replace(".x32.b32 ", ".x32.b32 ")
    for schedule in ("eager", "lazy"):
        found = launch(
            text, np.concatenate([both, np.zeros(65536, np.uint8)]), np.zeros((128, 32), np.uint32), schedule
        )
        equal = np.array_equal(found[:, :N].view(np.float32), a @ b.T)
        assert equal == (waits or schedule == "eager")


@pytest.mark.parametrize("engine", ["interpreter", "compiler"])
@pytest.mark.parametrize("schedule", ["eager", *DELAYED])
def test_an_instruction_waits_for_the_loads_of_its_registers(
    schedule: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Triton 3.9 puts the wait after the first use of the registers.
    monkeypatch.setenv("WARPLOOM_ENGINE", engine)
    body = (
        "mad.wide.u32 %rd5, %r0, 4, %rd1;\n" + fill(32) + "mov.b32 %v0, 7;\n"
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%w];\nadd.u32 %v1, %v0, 1;\nst.global.u32 [%rd5], %v1;\n"
        "tcgen05.wait::ld.sync.aligned;\n"
    )
    data = WORDS[:, :32].copy()
    found = launch(tensor_kernel(body, columns=32), data, np.zeros(128, np.uint32), schedule)
    np.testing.assert_array_equal(found, data[:, 0] + np.uint32(1))


def test_a_load_reads_tensor_memory_at_its_wait() -> None:
    # Without a wait, a multiplication may overwrite what the load has not read.
    _, _, data = tiles()
    load = f"tcgen05.ld.sync.aligned.32x32b.x32.b32 {registers(32)}, [%w];\n"
    store = "mul.lo.u32 %r6, %r0, 128; cvt.u64.u32 %rd5, %r6; add.u64 %rd5, %rd1, %rd5;\n"
    store += "".join(f"st.global.u32 [%rd5+{4 * i}], %v{i};\n" for i in range(32))
    zero = "".join(f"mov.u32 %v{i}, 0;\n" for i in range(32))
    zero += f"tcgen05.st.sync.aligned.32x32b.x32.b32 [%w], {registers(32)};\ntcgen05.wait::st.sync.aligned;\n"
    zero += "bar.sync 0;\n"
    mma = "bar.sync 0;\n" + by_thread_0(MMA.format("", "%p1") + COMMIT) + WAIT
    wait = "tcgen05.wait::ld.sync.aligned;\n"
    assert differs(share() + PREPARE + zero + load + mma + wait + store, data, 32)
    assert not differs(share() + PREPARE + zero + load + wait + mma + store, data, 32)


def test_accumulators_are_not_ordered_among_each_other() -> None:
    # The second multiplication reads as its A what the first one writes as its D.
    _, _, data = tiles()
    first = MMA.format("", "%p1")
    second = "tcgen05.mma.cta_group::1.kind::f16 [%t+32], [%t], %rd4, %r3, %p1;\n"
    assert differs(share() + PREPARE + by_thread_0(first + second + COMMIT) + WAIT + dump(64), data)
    apart = by_thread_0(first + COMMIT) + WAIT + "bar.sync 0;\n" + by_thread_0(second + COMMIT, "SECOND")
    apart += WAIT.replace("AGAIN", "TWICE").replace("], 0", "], 1")
    found = results(share() + PREPARE + apart + dump(64), data)
    assert all(np.array_equal(each, found["eager"]) for each in found.values())


def test_a_multiplication_may_overwrite_the_a_of_an_earlier_one() -> None:
    # Attention kernels keep P, the A of a multiplication, in the columns of the next S.
    _, _, data = tiles()
    first = MMA.format("", "%p1")
    second = "tcgen05.mma.cta_group::1.kind::f16 [%t+32], [%t], %rd4, %r3, %p1;\n"
    start = share() + PREPARE + by_thread_0(first + COMMIT) + WAIT + "bar.sync 0;\n"
    end = WAIT.replace("AGAIN", "TWICE").replace("], 0", "], 1") + dump(64)
    over_a, over_d = (by_thread_0(second + MMA.format(d, "%p2") + COMMIT, "SECOND") for d in ("", "+16"))
    found = results(start + over_a + end, data)
    assert all(np.array_equal(each, found["eager"]) for each in found.values())
    assert differs(start + over_d + end, data)


SCALED = wl.InstructionDescriptor("mxf8f6f4", 128, 32, "e4m3", "e4m3").encode()
CP = "tcgen05.cp.cta_group::1.32x128b.warpx4 [%t+{}], %rd{};\n"


def scaled(order: str) -> tuple[str, np.ndarray]:
    """Return a kernel that copies factors twice around a multiplication, and its data.

    In `order`, "c" is the copy of the factors 1, "m" the multiplication, and "d" the copy of the factors 2.
    """
    one = np.full(32768, 0x38, np.uint8)  # e4m3 ones
    one[16384:16896], one[20480:20992] = 127, 128
    tile = wl.UmmaDescriptor.packed(128, 32, "e4m3").encode()
    factors = wl.UmmaDescriptor(0, 128, 128).encode()
    prepare = f"""
    mov.u32 %r2, area; shr.u32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2; mov.u32 %r3, {SCALED};
    add.u64 %rd3, %rd2, {tile}; add.u64 %rd4, %rd2, {wl.UmmaDescriptor.packed(32, 32, "e4m3").encode()};
    add.u64 %rd5, %rd2, {factors + (16384 >> 4)}; add.u64 %rd6, %rd2, {factors + (20480 >> 4)};
    setp.ne.u32 %p1, %r0, %r0;
    """
    parts = {
        "c": CP.format(40, 5) + CP.format(44, 5),
        "d": CP.format(40, 6) + CP.format(44, 6),
        "m": "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%t], %rd3, %rd4, %r3, [%t+40], [%t+44], %p1;\n",
    }
    return share() + prepare + by_thread_0("".join(parts[each] for each in order) + COMMIT) + WAIT + dump(32), one


@pytest.mark.parametrize(("order", "value"), [("cm", 32.0), ("dm", 128.0), ("cmd", 32.0)])
def test_copies_are_ordered_with_multiplications(order: str, value: float) -> None:
    body, data = scaled(order)
    text = tensor_kernel(body, columns=64)
    for schedule in ("eager", *DELAYED):
        found = launch(text, data, np.zeros((128, 32), np.uint32), schedule).view(np.float32)
        assert (found == value).all(), schedule


@pytest.mark.parametrize("fence", ["before", "after", "both"])
def test_fences_order_the_operations_of_two_threads(fence: str) -> None:
    # Thread 0 copies factors, and thread 32 multiplies.
    body, data = scaled("cm")
    head, _, rest = body.partition("@!%p0 bra SKIP;\n")
    copies, mma = (
        rest.partition("tcgen05.mma")[0],
        "tcgen05.mma" + rest.partition("tcgen05.mma")[2].partition("SKIP:")[0],
    )
    end = rest.partition("SKIP:\n")[2]
    before = "tcgen05.fence::before_thread_sync;\n" * (fence != "after")
    after = "tcgen05.fence::after_thread_sync;\n" * (fence != "before")
    both = head + by_thread_0(copies + before) + "bar.sync 0;\nsetp.eq.u32 %p0, %r0, 32;\n"
    both += by_thread_0(after + mma, "LATER") + end
    assert differs(both, data) == (fence != "both")


def test_a_polling_warp_sees_the_arrival_of_a_commit() -> None:
    a, b, data = tiles()
    poll = WAIT.replace("try_wait", "test_wait")
    found = results(share() + PREPARE + by_thread_0(MMA.format("", "%p1") + COMMIT) + poll + dump(32), data, 32)
    assert all(np.array_equal(each[:, :N].view(np.float32), a @ b.T) for each in found.values())


def test_a_used_collector_buffer_must_be_filled() -> None:
    _, _, data = tiles()
    used = MMA.format("", "%p1").replace("kind::f16", "kind::f16.collector::a::use")
    filled = MMA.format("", "%p1").replace("kind::f16", "kind::f16.collector::a::fill")
    with pytest.raises(wl.WarploomError, match=r"no earlier instruction has filled the collector buffer a"):
        results(share() + PREPARE + by_thread_0(used + COMMIT) + WAIT + dump(32), data, 32)
    results(share() + PREPARE + by_thread_0(filled + used + COMMIT) + WAIT + dump(32), data, 32)
