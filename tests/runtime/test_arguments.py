"""Arguments by value, tables of pointers, and the kinds of kernels that a launch accepts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.author import f32, pointer, ptx, special, u32

# The structure is { float *x; int n; float scale; }, and the table has the addresses of two arrays of words.
STRUCTURE = """
    ld.param.u64 %rd2, [s];
    ld.param.u32 %r1, [s+8];
    ld.param.f32 %f1, [s+12];
    setp.ge.u32 %p1, %r0, %r1;
    @%p1 ret;
    mad.wide.u32 %rd3, %r0, 4, %rd2;
    ld.f32 %f2, [%rd3];
    mul.f32 %f2, %f2, %f1;
    st.f32 [%rd3], %f2;
    ret;"""
TABLE = """
    ld.param.u64 %rd2, [t];
    ld.u64 %rd3, [%rd2];
    ld.u64 %rd4, [%rd2+8];
    mul.wide.u32 %rd5, %r0, 4;
    add.u64 %rd3, %rd3, %rd5;
    add.u64 %rd4, %rd4, %rd5;
    ld.u32 %r1, [%rd3];
    st.u32 [%rd4], %r1;
    ret;"""
BY_VALUE = ".param .align 8 .b8 s[16]"


def launch(body: str, params: str, *args: object, **options: Any) -> wl.Run:
    return wl.launch(kernel(body, params), grid=1, block=32, args=args, **options)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: wl.Struct(x, np.int32(20), np.float32(0.5)),
        lambda x: wl.Struct(x, ("u32", 20), ("f32", 0.5)),
        lambda x: wl.Struct.at({8: ("u32", 20), 0: x, 12: ("f32", 0.5)}),
        lambda x: wl.Struct(wl.Struct(x, np.int32(20)), np.float32(0.5)),
    ],
)
def test_a_structure_by_value_has_pointers_and_numbers(make: Any) -> None:
    x = np.arange(32, dtype=np.float32)
    structure = make(x)
    if structure.size == 24:  # a structure inside another is padded to its alignment, as in C
        launch(STRUCTURE.replace("s+12", "s+16"), BY_VALUE.replace("16", "24"), structure)
    else:
        launch(STRUCTURE, BY_VALUE, structure)
    np.testing.assert_array_equal(x[:20], np.arange(20) / 2)
    np.testing.assert_array_equal(x[20:], np.arange(20, 32))


def test_a_list_of_arrays_is_a_table_of_pointers() -> None:
    source, target = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    launch(TABLE, ".param .u64 t", [source, target])
    np.testing.assert_array_equal(target, source)


def test_a_table_may_be_a_field_of_a_structure() -> None:
    source, target = np.arange(32, dtype=np.uint32), np.zeros(32, np.uint32)
    launch(TABLE.replace("[t]", "[s+8]"), BY_VALUE, wl.Struct(None, [source, target]))
    np.testing.assert_array_equal(target, source)


def test_fields_have_the_layout_of_c() -> None:
    inner = wl.Struct(np.uint8(1), ml_dtypes.bfloat16(1))
    structure = wl.Struct(np.uint8(1), np.float64(2), b"abc", inner, np.int16(3))
    assert [(field.offset, field.size) for field in structure.fields] == [(0, 1), (8, 8), (16, 3), (20, 4), (24, 2)]
    assert (structure.size, structure.align) == (32, 8)


@pytest.mark.parametrize(
    ("params", "argument", "message"),
    [
        (BY_VALUE, lambda x: wl.Struct(x, x, x), r"argument 0 \(.u64 s\+16\) is an array .* within the 16 bytes"),
        (BY_VALUE, lambda x: wl.Struct(x[::2]), r"argument 0 \(s\+0\) is an array .* not contiguous"),
        (BY_VALUE, lambda x: wl.Struct(("u8", 256)), r"argument 0 \(.u8 s\+0\) is 256; expected an integer"),
        (BY_VALUE, lambda x: [x, x], r"argument 0 \(.b8 s\[16\]\) is a list; expected a Struct or 16 bytes"),
        (".param .u32 n", wl.Struct, r"argument 0 \(.u32 n\) is a Struct; expected a number"),
        (".param .u64 n", lambda x: [x, 3], r"argument 0 \(.u64 n\) is a list; expected a number, an array or None"),
        (".param .u64 n", lambda x: [x, x[::2]], r"argument 0 \(n\[1\]\) is an array .* not contiguous"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(params: str, argument: Any, message: str) -> None:
    x = np.zeros(32, np.float32)
    with pytest.raises(wl.UsageError, match=message) as caught:
        launch("ret;", params, argument(x))
    assert caught.value.diagnostics[0].code == "launch.argument"


@pytest.mark.parametrize("field", [5, 0.5, "u32", ("u33", 1), ("u32", 1, 2)])
def test_a_field_needs_a_width(field: object) -> None:
    with pytest.raises(wl.UsageError, match="a field of a Struct is"):
        wl.Struct(field)


def test_fields_do_not_overlap() -> None:
    with pytest.raises(wl.UsageError, match="two fields of a Struct overlap at byte 4"):
        wl.Struct.at({0: ("u64", 1), 4: ("u32", 2)})


@wl.kernel
def scaled(x: pointer(f32), factor: f32, count: u32) -> None:
    i = special("tid.x")
    x[i] = ptx.mul(x[i], factor, type="f32")


def test_a_kernel_in_python_is_launched_without_its_module() -> None:
    x = np.arange(32, dtype=np.float32)
    wl.launch(scaled, grid=1, block=32, args=[x, 2.0, 32])
    np.testing.assert_array_equal(x, 2 * np.arange(32))


def test_a_kernel_is_a_text_a_path_or_a_module(tmp_path: Path) -> None:
    text = kernel("st.global.u32 [%rd1], 7;\nret;", directives=".reqntid 32")
    (tmp_path / "k.ptx").write_text(text)
    for source in (text, tmp_path / "k.ptx", str(tmp_path / "k.ptx"), wl.parse(text)):
        out = np.zeros(32, np.uint32)
        run = wl.launch(source, grid=1, args=[out])  # .reqntid states the block
        assert out.tolist() == [7] * 32
        assert run.output == ""


def test_a_block_that_nothing_states_is_missing() -> None:
    with pytest.raises(wl.UsageError, match=r"block is missing; kernel k has no \.reqntid"):
        wl.launch(kernel("ret;"), grid=1, args=[np.zeros(1)])


def test_a_launch_on_a_gpu_does_not_import_the_emulator() -> None:
    program = (
        "import sys, numpy as np, warploom as wl\n"
        "from warploom.gpu import driver\n"
        "driver.import_module = lambda name: (_ for _ in ()).throw(ModuleNotFoundError)\n"
        f"text = {kernel('ret;')!r}\n"
        "try:\n    wl.launch(text, grid=1, block=32, args=[np.zeros(1)], device='cuda')\n"
        "except wl.UsageError as error:\n    print(error.diagnostics[0].code)\n"
        "print(sorted(name for name in sys.modules if name.startswith('warploom.emulator.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "gpu.packages\n['warploom.emulator.stats', 'warploom.emulator.times']\n"
