"""The Triton integration: arguments, autotuning, findings with Python locations, refusals."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("triton")

import triton
from integrations import triton_kernels as kernels
from integrations import triton_odd as odd

from warploom.diagnostics import UsageError
from warploom.emulator.faults import Trap
from warploom.integrations import triton as emulation


def test_the_autotuner_takes_the_configuration_with_fewest_instructions() -> None:
    x = np.arange(128, dtype=np.float32)
    with emulation.emulate() as runs:
        odd.double[(1,)](x, 128)
    np.testing.assert_array_equal(x, np.arange(128) * 2)
    assert odd.double.best_config.kwargs == {"BLOCK": 128}
    assert len(runs) == 3
    issued = [sum(run.stats.instructions.values()) for run in runs]
    assert issued[0] > issued[1] == issued[2]


def test_the_autotuner_resets_arguments() -> None:
    x, out = np.ones(100, np.float32), np.zeros(1, np.float32)
    with emulation.emulate():
        odd.total[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, out, 100)
    assert out[0] == 100


def test_scalars_of_every_kind() -> None:
    out = np.zeros(6, np.float32)
    with emulation.emulate(check=True, sanitize=True, strict=True):
        odd.scalars[(1,)](
            out, None, np.int64(7), np.float32(2.5), True, 0.333, (3, np.full(1, 5.0, np.float32)), FLAG=True
        )
    np.testing.assert_array_equal(out, np.float32([7, 2.5, 1, np.float16(0.333), 8, 1]))


def test_views_that_overlap_share_their_memory() -> None:
    whole = np.arange(40, dtype=np.float32)
    expected = whole.copy()
    expected[8:40] = expected[0:32]
    with emulation.emulate():
        odd.copy[(1,)](whole[:32], whole[8:], 32, BLOCK=32)
    np.testing.assert_array_equal(whole, expected)


def test_a_view_with_a_pitch_is_used_in_place() -> None:
    whole = np.arange(60, dtype=np.float32).reshape(3, 20)
    out = np.zeros((3, 10), np.float32)
    with emulation.emulate(sanitize=True, strict=True):
        odd.copy_rows[(3,)](whole[:, 5:15], out, 20, 10, BLOCK=16)
    np.testing.assert_array_equal(out, whole[:, 5:15])


def test_an_empty_grid_launches_nothing() -> None:
    x = np.zeros(4, np.float32)
    with emulation.emulate() as runs:
        odd.copy[(0,)](x, x, 4, BLOCK=4)
    assert runs == []


def test_a_gluon_kernel() -> None:
    x = np.random.default_rng(0).standard_normal(512, np.float32)
    out = np.zeros_like(x)
    with emulation.emulate(check=True, sanitize=True, strict=True):
        odd.exchange[(1,)](x, out, WIDTH=512, num_warps=4)
    np.testing.assert_array_equal(out, x)


# What goes wrong in a kernel --------------------------------------------------------------------------------


def line_of(text: str) -> int:
    lines = Path(odd.__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_fault_names_the_python_line_and_argument() -> None:
    x, out = np.zeros(32, np.float32), np.zeros(64, np.float32)
    with emulation.emulate() as runs, pytest.raises(Trap) as caught:
        odd.copy[(1,)](x, out, 64, BLOCK=64)
    line = line_of("x = tl.load(x_ptr + at, mask=at < n)")
    assert f"(triton_odd.py:{line})" in str(caught.value)
    assert "argument 0 (x_ptr) of 128 bytes" in str(caught.value)
    assert runs[0].findings == caught.value.diagnostics


@pytest.mark.filterwarnings("error")
def test_a_trap_is_raised_under_the_sanitizer_too() -> None:
    x, out = np.ones(32, np.float32), np.zeros(64, np.float32)
    with emulation.emulate(sanitize=True) as runs, pytest.raises(Trap) as caught:
        odd.copy[(1,)](x, out, 64, BLOCK=64)
    assert [found.code for found in caught.value.findings] == ["emulator.out-of-bounds"]
    assert "(triton_odd.py:" in str(caught.value.findings[0])
    assert runs[0].findings == caught.value.findings
    assert caught.value.arrays[0].tolist() == x.tolist()
    assert not out.any()


def test_findings_are_raised_only_if_strict() -> None:
    x, out = np.zeros(32, np.float32), np.zeros(64, np.float32)

    def block() -> list[emulation.LaunchRecord]:
        with emulation.emulate(sanitize=True, raises=False) as runs:
            odd.copy[(1,)](x, x.copy(), 32, BLOCK=32)
            odd.copy[(1,)](x, out, 64, BLOCK=64)
        return runs

    with pytest.warns(emulation.FindingsWarning) as warned:
        runs = block()
    assert [found.code for found in runs[1].findings] == ["emulator.out-of-bounds"]
    assert "ld.global" in runs[1].report()
    message = str(warned[0].message)
    assert message.startswith(
        "the emulated Triton kernels have 1 finding; the first is [emulator.out-of-bounds] copy.ptx:"
    )
    assert message.endswith("print(launches[1].report()) shows all findings of this launch of copy")
    assert warned[0].filename == __file__
    with (
        emulation.emulate(sanitize=True, raises=False, strict=True) as runs,
        pytest.raises(emulation.FindingsError, match=r"(?s)x_ptr.*\^\^\^"),
    ):
        odd.copy[(1,)](x, out, 64, BLOCK=64)
    assert len(runs) == 1


def test_deactivate_warns_of_findings() -> None:
    emulation.activate(sanitize=True, raises=False)
    odd.copy[(1,)](np.zeros(32, np.float32), np.zeros(64, np.float32), 64, BLOCK=64)
    with pytest.warns(emulation.FindingsWarning, match="1 finding; the first"):
        emulation.deactivate()
    emulation.deactivate()


def test_a_script_that_ends_with_findings_warns(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(odd.__file__).parent)!r})\n"
        "import numpy as np, triton_odd as odd\n"
        "from warploom.integrations.triton import activate\n"
        "activate(sanitize=True, raises=False)\n"
        "odd.copy[(1,)](np.zeros(32, np.float32), np.zeros(64, np.float32), 64, BLOCK=64)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert "FindingsWarning: the emulated Triton kernels have 1 finding" in done.stderr


def test_a_store_to_a_read_only_array_traps() -> None:
    locked = np.zeros(32, np.float32)
    locked.flags.writeable = False
    with emulation.emulate(), pytest.raises(Trap, match="read-only"):
        odd.copy[(1,)](np.zeros(32, np.float32), locked, 32, BLOCK=32)


def test_a_failed_device_assertion_traps() -> None:
    sentence = (
        r"triton_odd\.py:\d+: \w+: block: \[0,0,0\], thread: \[0,0,0\] Assertion `expected a positive number` failed"
    )
    with emulation.emulate(), pytest.raises(Trap, match=sentence):
        odd.checked[(1,)](np.zeros(1, np.float32), debug=True)


# Sessions --------------------------------------------------------------------------------------------------


def test_sessions_nest_and_end() -> None:
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    with emulation.emulate(arch=90) as outer:
        with emulation.emulate(arch="sm_80", schedule="lazy") as inner:
            odd.copy[(1,)](x, out, 4, BLOCK=4)
        odd.copy[(1,)](x, out, 4, BLOCK=4)
    assert [run.schedule for run in inner] == ["lazy"]
    assert [run.schedule for run in outer] == ["eager"]
    assert ".target sm_80\n" in inner[0].ptx
    assert ".target sm_90a" in outer[0].ptx


def test_activate_for_a_whole_script() -> None:
    x, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    runs = emulation.activate(sanitize=True)
    try:
        odd.copy[(1,)](x, out, 4, BLOCK=4)
        assert triton.runtime.driver.active.get_current_target().arch == 90
        properties = triton.runtime.driver.active.utils.get_device_properties(0)
        assert properties["max_shared_mem"] == 227 * 1024
    finally:
        emulation.deactivate()
    assert len(runs) == 1
    emulation.deactivate()
    launchable = triton.runtime.jit.KernelInterface
    assert launchable.__getitem__.__module__ == launchable.__module__


def test_a_session_restores_triton() -> None:
    from triton.backends import backends

    before = backends["nvidia"].compiler
    with emulation.emulate():
        assert backends["nvidia"].compiler is not before
    assert backends["nvidia"].compiler is before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arch": 50}, "arch is 50; expected 75, 80"),
        ({"arch": "hopper"}, "arch is 'hopper'"),
        ({"strict": True}, "strict raises findings of check and sanitize"),
        ({"schedule": "late"}, "unknown schedule 'late'"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message), emulation.emulate(**options):
        pass


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros(4, np.float32)[::-1], "x_ptr is an array with a negative stride"),
        (np.zeros(4, ">f4"), "an array of >f4; Triton has no such type"),
    ],
)
def test_invalid_arguments_are_refused(x: Any, message: str) -> None:
    with emulation.emulate(), pytest.raises(UsageError, match=message):
        odd.copy[(1,)](x, np.zeros(4, np.float32), 4, BLOCK=4)


def test_a_descriptor_beyond_its_memory_is_refused() -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = emulation.tensor(np.zeros((64, 64), np.float16))
    made = [TensorDescriptor(x, [rows, 64], [64, 1], [64, 64]) for rows in (65, 64, 64)]
    with emulation.emulate(), pytest.raises(UsageError, match="a_desc describes 4160 elements"):
        kernels.gemm_by_descriptors[(1, 1)](*made, 64, BM=64, BN=64, BK=64)


def test_timing_is_refused() -> None:
    with emulation.emulate(), pytest.raises(UsageError, match="has no clock"):
        triton.testing.do_bench(lambda: None)


def test_a_missing_and_an_old_triton_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(UsageError, match="Triton is not installed"), emulation.emulate():
        pass
    old = ModuleType("triton")
    old.__version__ = "3.1.0"
    monkeypatch.setitem(sys.modules, "triton", old)
    with pytest.raises(UsageError, match=r"Triton 3\.1\.0 is installed; expected 3\.4 or newer"):
        emulation.activate()


# PyTorch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "int64"])
def test_tensors_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(1, 33).to(getattr(torch, name))
    out = torch.zeros_like(x)
    with emulation.emulate(sanitize=True, strict=True):
        odd.copy[(1,)](x, out, 32, BLOCK=32)
    assert torch.equal(out.float(), x.float())


def test_descriptors_scratch_and_device_of_torch() -> None:
    torch = pytest.importorskip("torch")
    from triton.tools.tensor_descriptor import TensorDescriptor

    with emulation.emulate(sanitize=True, strict=True):
        device = triton.runtime.driver.active.get_active_torch_device()
        a, b = (torch.randn(64, 64, device=device, dtype=torch.float16) for _ in range(2))
        c = torch.zeros_like(a)
        made = [TensorDescriptor.from_tensor(x, [64, 64]) for x in (a, b, c)]
        kernels.gemm_by_descriptors[(1, 1)](*made, 64, BM=64, BN=64, BK=64)
        torch.testing.assert_close(c, a @ b.T, rtol=1e-2, atol=1e-2)
        triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8))
        kernels.gemm_persistent[(1,)](a, b, c.zero_(), 64, 64, 64, BM=64, BN=64, BK=64, SPECIAL=False)
    torch.testing.assert_close(c, a @ b.T, rtol=1e-2, atol=1e-2)


def test_a_parameter_with_a_gradient() -> None:
    torch = pytest.importorskip("torch")
    x = torch.nn.Parameter(torch.randn(8, 4).T)
    out = torch.zeros(32)
    with emulation.emulate(sanitize=True, strict=True):
        odd.copy[(1,)](x, out, 32, BLOCK=32)
    assert torch.equal(out.view(8, 4).T, x.detach())
