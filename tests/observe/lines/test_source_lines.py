"""Lines of Python, CUDA C++ and Triton in findings, traps, deadlocks, traces and profiles."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import warploom as wl
from warploom.author import Location, Register, bounds, f32, kernel, pointer, ptx, shared, special, when
from warploom.view.listing import lines_of

HERE = Path(__file__)
ROTATE = HERE.with_name("rotate.ptx")
VADD = HERE.parents[2] / "corpus/vadd_f32_sm90.ptx"


def line_of(words: str) -> int:
    """Line of this file that ends with the comment `words`."""
    return next(k for k, line in enumerate(HERE.read_text().splitlines(), 1) if line.endswith(f"# {words}"))


def keep(address: Register, value: Register) -> None:
    ptx.st(Location(address, 0, "shared"), value, type="f32")  # store


@kernel
def shift(x: pointer(f32), y: pointer(f32)):
    bounds(threads=64)
    tile, t = shared(4 * 64).address(), special("tid.x")
    keep(tile + t * 4, x[t])  # call
    y[t] = ptx.ld(Location(tile + (t + 32 & 63) * 4, 0, "shared"), type="f32")  # load


@kernel
def stuck(x: pointer(f32)):
    bounds(threads=64)
    with when(special("tid.x") < 32):
        ptx.inline("bar.sync 1, 64;")  # first
    ptx.inline("bar.sync 2, 64;")  # second


def test_a_race_of_an_authored_kernel() -> None:
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    (found,) = wl.launch(shift, grid=1, block=64, args=[x, y], sanitize=True).findings
    load, store, call = map(line_of, ("load", "store", "call"))
    assert found.compiled_from is not None
    assert (found.compiled_from.file, found.compiled_from.line) == (str(HERE), load)
    assert f"written by line {found.data['other line']} ({HERE.name}:{store})" in found.message
    assert found.data["other source"] == f"{HERE}:{store}"
    assert re.search(rf"after line \d+ \({HERE.name}:{store}\) and before line \d+ \({HERE.name}:{load}\)", found.hint)
    assert found.data["edit"]["before source"] == f"{HERE}:{load}"
    source = wl.parse(shift.text).source
    chain = [*source.compiled_from(source.text.index("st.shared")).chain()]
    assert [(each.line, each.function) for each in chain] == [(store, "keep"), (call, "")]


def test_a_trap_of_an_authored_kernel() -> None:
    x, y = np.zeros(63, np.float32), np.zeros(64, np.float32)
    with pytest.raises(wl.Trap) as caught:
        wl.launch(shift, grid=1, block=64, args=[x, y])
    assert f" ({HERE.name}:{line_of('call')}): 4-byte load" in str(caught.value)


def test_a_deadlock_of_an_authored_kernel() -> None:
    with pytest.raises(wl.Deadlock) as caught:
        wl.launch(stuck, grid=1, block=64, args=[np.zeros(1, np.float32)])
    first, second = line_of("first"), line_of("second")
    lines = [each.compiled_from.line for each in caught.value.diagnostics]
    assert sorted(lines) == [first, second]
    notes = " ".join(note.message for each in caught.value.diagnostics for note in each.notes)
    assert re.search(rf"line \d+ \({re.escape(HERE.name)}:{second}\)", notes)
    assert {each.data["waits"]["source"] for each in caught.value.diagnostics} == {
        f"{HERE}:{first}", f"{HERE}:{second}"
    }  # fmt: skip


def rotate(n: int = 128, **options) -> wl.Run:
    x, y = np.arange(n, dtype=np.float32), np.zeros(128, np.float32)
    return wl.launch(ROTATE, grid=1, block=128, args=[x, y], **options)


def test_a_race_of_a_kernel_from_nvcc() -> None:
    (found,) = rotate(sanitize=True).findings
    assert [str(line) for line in found.compiled_from.chain()] == ["rotate.cu:7", "rotate.cu:14", "rotate.cu:21"]
    assert "(rotate.cu:6)" in found.message
    assert "kernel demo::rotate<float, 128>, CTA" in found.message
    assert "_ZN" not in found.message


def test_a_trap_of_a_kernel_from_nvcc() -> None:
    with pytest.raises(wl.Trap) as caught:
        rotate(127)
    assert "(rotate.cu:21): 4-byte load" in str(caught.value)
    assert "argument 0 (demo::rotate<float, 128>_param_0)" in str(caught.value)


def test_a_kernel_is_found_by_its_readable_name() -> None:
    assert rotate(name="demo::rotate<float, 128>").stats.ctas == 1
    with pytest.raises(wl.UsageError, match="unknown kernel 'rotate'; the module has demo::rotate<float, 128>"):
        rotate(name="rotate")


def test_a_trap_of_a_kernel_from_triton() -> None:
    x, y = np.zeros(1000, np.float32), np.zeros(1024, np.float32)
    args = [x, y, np.zeros(1024, np.float32), 1024, None, None]
    with pytest.raises(wl.Trap) as caught:
        wl.launch(VADD, grid=1, block=128, args=args[: len(wl.parse(VADD.read_text()).functions["vadd"].params)])
    assert re.search(r"\(gen_triton\.py:\d+\): ", str(caught.value))


def test_a_trace_names_source_lines(tmp_path: Path) -> None:
    run = rotate(trace=True)
    run.trace.save(tmp_path / "trace.json")
    saved = json.loads((tmp_path / "trace.json").read_text())
    assert saved["otherData"]["kernel"] == "demo::rotate<float, 128>"
    details = [each["args"] for each in saved["traceEvents"] if each["ph"] == "X"]
    (ran,) = [each for each in details if "last line" in each][:1]
    assert ran["source"] == "rotate.cu:18"
    assert ran["last source"] == "rotate.cu:22"


def test_a_profile_names_source_lines() -> None:
    profile = rotate(profile=True).profile
    by_opcode = dict(zip(profile.opcodes, map(str, profile.source_lines), strict=True))
    assert by_opcode["st.shared.f32"] == "rotate.cu:6"
    assert by_opcode["ld.shared.f32"] == "rotate.cu:7"
    listed = {line.opcode: line.origin for line in lines_of(profile) if line.row is not None}
    assert listed["st.shared.f32"] == "rotate.cu:6"
    html = wl.report(rotate(profile=True, sanitize=True)).html
    assert "<h1><code>demo::rotate&lt;float, 128&gt;</code></h1>" in html
    assert "inlined at: /tmp/rotate.cu:21" in html
