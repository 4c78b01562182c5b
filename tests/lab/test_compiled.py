"""Compiled kernels run in several processes, and each is compared with its reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulator.texts import kernel

from warploom_lab.cli import main
from warploom_lab.compiled.run import digest

CONVERT = """
ld.param.u64 %rd2, [x];
mad.wide.u32 %rd2, %r0, 4, %rd2;
ld.global.s32 %r1, [%rd2];
cvt.rn.f32.s32 %f1, %r1;
st.global.f32 [%rd1], %f1;
ret;"""
CASE = {
    "reference": "cast", "grid": [1], "block": [32], "cluster": [1, 1, 1], "shared": 0, "entry": "k",
    "kind": "elementwise", "tolerance": [0, 0], "parameters": {}, "scratch": 0,
    "args": {
        "x": {"kind": "buffer", "dtype": "i32", "shape": [32], "fill": "integers", "low": 1, "high": 9},
        "y": {"kind": "buffer", "dtype": "fp32", "shape": [32], "fill": "zeros", "checked": True},
    },
}  # fmt: skip


def test_workers_run_compiled_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = kernel(CONVERT, ".param .u64 x, .param .u64 out")
    bodies = {"right": right, "wrong": right.replace("st.global.f32 [%rd1], %f1", "st.global.s32 [%rd1], %r1")}
    for name, text in bodies.items():
        (tmp_path / f"{name}.ptx").write_text(text)
        (tmp_path / f"{name}.json").write_text(json.dumps(CASE | {"name": name, "file": f"{name}.ptx"}))
    options = ["--run", "--compiled", "--workers", "2"]
    assert main(["kernels", str(tmp_path), "right", *options]) == 0
    assert capsys.readouterr().out == "elementwise: 1 kernels, 0 failed\n"
    assert main(["kernels", str(tmp_path), *options]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("FAIL wrong (")
    assert "y: 32 of 32 wrong" in printed
    assert printed.endswith("elementwise: 2 kernels, 1 failed\n")


COPY = """mov.u32 %r2, s;
mad.lo.u32 %r2, %r0, 4, %r2;
cp.async.ca.shared.global [%r2], [%rd2], 4;
cp.async.wait_all;
ld.shared.s32 %r1, [%r2];"""


def test_sanitized_kernels_are_recorded(tmp_path: Path) -> None:
    body = CONVERT.replace("ld.global.s32 %r1, [%rd2];", COPY)
    copied = kernel(".shared .align 4 .b8 s[128];" + body, ".param .u64 x, .param .u64 out")
    texts = {"right": copied, "early": copied.replace("cp.async.wait_all;\n", "")}
    for name, text in texts.items():
        (tmp_path / f"{name}.ptx").write_text(text)
        (tmp_path / f"{name}.json").write_text(json.dumps(CASE | {"name": name, "file": f"{name}.ptx"}))
    record = tmp_path / "results"
    options = ["--sanitize", "--compiled", "--record", str(record)]
    assert main(["kernels", str(tmp_path), *options]) == 1
    results = json.loads(record.read_text())
    assert results["schedules"] == ["eager", "lazy", "random:1", "random:2", "random:3"]
    assert results["sanitized"]
    assert list(results["kernels"]) == ["early", "right"]
    assert "sanitize.cp-async/wait" in results["kernels"]["early"]["problem"]
    assert results["kernels"]["right"] == results["kernels"]["right"] | {"kind": "elementwise", "problem": ""}


def test_the_digest_depends_on_the_code_alone() -> None:
    code = kernel(CONVERT, ".param .u64 x, .param .u64 out")
    line, name = "cvt.rn.f32.s32 %f1, %r1;", ".global .b8 _ZN5_INTERNAL_{}_12_blackwell_cu_x;\n"
    debug = f"$L__tmp0:\n\t.loc\t1 7 0 // a.py:7\n\t{line}"
    placed = code.replace(line, debug) + '\t.file\t1 "/a.py"\n\t.section\t.debug_info\n\t{\n.b8 1 // DW_TAG\n\t}\n'
    assert debug in placed
    assert digest(placed) == digest(code)
    assert digest(name.format("0123abcd") + code) == digest(name.format("4567cdef") + code)
    assert digest(code.replace("cvt.rn", "cvt.rz")) != digest(code)
