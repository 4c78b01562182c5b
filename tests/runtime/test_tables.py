"""Tables of addresses, of tensor maps and of structures in device memory, from Python and from launch files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.cli import main
from warploom.runtime.launchfile import read_launch_file
from warploom.runtime.toml import LaunchFileError

MADE = Path(__file__).parent / "init"
STRUCTURES = MADE / "structures.ptx"
Array = np.ndarray[Any, Any]
PARAMS = """struct Params {
    const __half *x; float *y; int n; float scale[4];
    alignas(128) CUtensorMap map;  // as in CUDA 13
    struct { int column; long long row; } inner;
    float4 v; const float *const *rows; const CUtensorMap *maps; unsigned char flag;
};"""


@pytest.fixture(params=["interpreter", "compiler"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", request.param)


def tensors() -> tuple[Array, Array, Array]:
    random = np.random.default_rng(0)
    first, second, third = (random.integers(0, 100, (32, 64)).astype(np.int32) for _ in range(3))
    return first, second, third


def tiled(array: Array) -> wl.TensorMap:
    return wl.TensorMap.tiled(array, (8, 16))


def tile(array: Array, row: int, column: int) -> Array:
    return array[row : row + 8, column : column + 16].ravel()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: [m], lambda m: [m, m]], ids=["map", "list", "two"])
def test_a_pointer_to_tensor_maps(wrap: Any) -> None:
    array, _, _ = tensors()
    rows = [np.full(128, 0.5, np.float32), np.full(128, 2, np.float32)]
    y = np.arange(128, dtype=np.float32)
    wl.launch(STRUCTURES, "tables", grid=1, block=128, args=[wrap(tiled(array)), rows, y])
    np.testing.assert_array_equal(y, np.arange(128) + tile(array, 0, 0) + 2.5)


@pytest.mark.usefixtures("engine")
def test_a_structure_with_every_kind_of_member() -> None:
    first, second, third = tensors()
    x, y, row = np.arange(128).astype(np.float16), np.zeros(128, np.float32), np.full(128, 3, np.float32)
    structure = wl.Struct.c(
        PARAMS, x=x, y=y, n=100, scale=(1, 2, 3, 4), map=tiled(first), inner={"column": 16, "row": 8},
        v=(0.5, 0, 0, 0), rows=[row], maps=[tiled(second), tiled(third)], flag=7,
    )  # fmt: skip
    wl.launch(STRUCTURES, "rich", grid=1, block=128, args=[structure])
    i = np.arange(128)
    expected = i * (i % 4 + 1) + 0.5 + 3 + tile(first, 8, 16) + 2 * tile(third, 8, 16) + 7
    np.testing.assert_array_equal(y, np.where(i < 100, expected, 0))


COPY = """
    ld.param.u64 %rd2, [t];
    ld.u64 %rd3, [%rd2];
    ld.u64 %rd4, [%rd2+8];
    mul.wide.u32 %rd5, %r0, 4;
    add.u64 %rd3, %rd3, %rd5;
    add.u64 %rd4, %rd4, %rd5;
    ld.u32 %r1, [%rd3];
    add.u32 %r1, %r1, 1;
    st.u32 [%rd4], %r1;
    ret;"""


def test_views_in_a_table_alias_the_arrays_of_other_arguments() -> None:
    whole, other = np.arange(64, dtype=np.uint32), np.arange(64, dtype=np.uint32)
    body = COPY.replace("ret;", "ld.param.u64 %rd6, [w]; add.u64 %rd6, %rd6, %rd5; st.u32 [%rd6+128], %r1;\nret;")
    body = body.replace("ld.u32 %r1", "ld.param.u64 %rd6, [w]; add.u64 %rd6, %rd6, %rd5; st.u32 [%rd6], 5;\nld.u32 %r1")
    # The first entry is a view of the argument `w`, which the kernel writes before it reads the view.
    wl.launch(kernel(body, ".param .u64 t, .param .u64 w"), grid=1, block=32, args=[[whole[:32], other[32:]], whole])
    assert whole.tolist() == [5] * 32 + [6] * 32
    assert other.tolist() == [*range(32), *[6] * 32]


def test_a_table_may_have_null_pointers() -> None:
    body = "ld.param.u64 %rd2, [t]; ld.u64 %rd3, [%rd2+8]; ld.u64 %rd4, [%rd2]; st.u64 [%rd4], %rd3; ret;"
    out = np.ones(1, np.uint64)
    wl.launch(kernel(body, ".param .u64 t"), grid=1, block=1, args=[[out, None]])
    assert out[0] == 0


def test_a_list_of_structures_is_an_array_of_structures() -> None:
    outs = [np.zeros(32, np.uint32) for _ in range(3)]
    body = """
        ld.param.u64 %rd2, [t];
        ld.u64 %rd3, [%rd2+40];
        ld.u32 %r1, [%rd2+32];
        mad.wide.u32 %rd3, %r0, 4, %rd3;
        st.u32 [%rd3], %r1;
        ret;"""
    entries = [wl.Struct.c("struct { long pad; int n; int *x; }", pad=0, n=k, x=out) for k, out in enumerate(outs)]
    wl.launch(kernel(body, ".param .u64 t"), grid=1, block=32, args=[entries])
    assert [out.tolist() for out in outs] == [[0] * 32, [1] * 32, [0] * 32]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (lambda x: [x, tiled(x)], r"argument 0 \(.u64 t\) is a list; expected a number, an array or None, or a list"),
        (lambda x: [], r"argument 0 \(.u64 t\) is a list"),
        (lambda x: [None], r"argument 0 \(.u64 t\) is a list"),
        (lambda x: [wl.Struct(x[::2, ::2])], r"argument 0 \(t\[0\]\+0\) is an array .* not contiguous"),
    ],
)
def test_lists_that_are_no_table_are_refused(argument: Any, message: str) -> None:
    with pytest.raises(wl.UsageError, match=message):
        wl.launch(kernel("ret;", ".param .u64 t"), grid=1, block=32, args=[argument(tensors()[0])])


# A grouped GEMM of Triton ---------------------------------------------------------------------------------------------

SHAPES = ((64, 32, 32), (32, 64, 96), (96, 32, 64))
SIZES = np.array(SHAPES, np.int32)
STRIDES = np.array([(k, n, n) for _, n, k in SHAPES], np.int32)


@pytest.mark.usefixtures("engine")
def test_a_grouped_gemm_of_triton() -> None:
    random = np.random.default_rng(1)
    a = [random.standard_normal((m, k)).astype(np.float16) for m, _, k in SHAPES]
    b = [random.standard_normal((k, n)).astype(np.float16) for _, n, k in SHAPES]
    c = [np.zeros((m, n), np.float16) for m, n, _ in SHAPES]
    args = [a, b, c, SIZES, STRIDES, 3, None, None]
    wl.launch(MADE / "grouped.ptx", grid=4, block=256, shared=32768, args=args)
    for left, right, found in zip(a, b, c, strict=True):
        np.testing.assert_allclose(found.astype(float), left.astype(float) @ right.astype(float), rtol=2e-3, atol=2e-2)


def grouped_file(tmp_path: Path) -> Path:
    np.save(tmp_path / "sizes.npy", SIZES)
    np.save(tmp_path / "strides.npy", STRIDES)
    lines = [
        f'kernel.file = "{MADE / "grouped.ptx"}"', "launch.grid = 4", "launch.block = 256", "launch.shared = 32768",
        "argument = [", '{ buffers = ["a0", "a1", "a2"] },', '{ buffers = ["b0", "b1", "b2"] },',
        '{ buffers = ["c0", { buffer = "rest" }, { buffer = "rest", offset = 4096 }] },', '{ buffer = "sizes" },',
        '{ buffer = "strides" },', "{ value = 3 },", "{ null = true },", "{ null = true },", "]",
    ]  # fmt: skip
    shapes = {f"a{g}": (m, k) for g, (m, _, k) in enumerate(SHAPES)}
    shapes |= {f"b{g}": (k, n) for g, (_, n, k) in enumerate(SHAPES)}
    for name, shape in {**shapes, "c0": (64, 32), "rest": (32 * 64 + 96 * 32,)}.items():
        kind = "normal" if name[0] in "ab" else "zeros"
        lines.append(f'[buffer.{name}]\ndtype = "float16"\nshape = {list(shape)}\ndistribution = "{kind}"')
    lines += [f'[buffer.{name}]\nfile = "{name}.npy"' for name in ("sizes", "strides")]
    lines.append('[expect]\nresult = "c0"\nreference = "matmul"\na = "a0"\nb = "b0"\nabsolute = 0.05')
    path = tmp_path / "grouped.toml"
    path.write_text("\n".join(lines))
    return path


def test_a_grouped_gemm_from_a_launch_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = grouped_file(tmp_path)
    assert main(["run", str(path)]) == 0
    capsys.readouterr()
    plan = read_launch_file(path)
    args, arrays, *_ = plan.prepare()
    wl.launch(plan.ptx, **plan.keywords, args=args)
    found = arrays["rest"][2048:].reshape(96, 32).astype(float)  # a view at an offset of 4096 bytes
    np.testing.assert_allclose(found, arrays["a2"].astype(float) @ arrays["b2"].astype(float), rtol=2e-3, atol=2e-2)


# Launch files ---------------------------------------------------------------------------------------------------------

RICH = f'''
kernel.file = "{STRUCTURES}"
kernel.name = "rich"
launch.grid = 1
launch.block = 128

[[argument]]
struct = """{PARAMS}"""

[argument.values]
x = {{ buffer = "x" }}
y = {{ buffer = "y" }}
n = 100
scale = [1, 2, 3, 4.0]
map = {{ tensor_map = "first", box = [8, 16] }}
inner = {{ column = 16, row = 8 }}
v = [0.5, 0, 0, 0]
rows = {{ buffers = ["row"] }}
maps = {{ tensor_maps = [{{ tensor_map = "first", box = [8, 16] }}, {{ tensor_map = "second", box = [8, 16] }}] }}
flag = 7
'''
BUFFERS = "".join(
    f'\n[buffer.{name}]\ndtype = "{dtype}"\nshape = {shape}\ndistribution = "{distribution}"\n'
    for name, dtype, shape, distribution in (
        ("x", "float16", [128], "arange"), ("y", "float32", [128], "zeros"), ("row", "float32", [128], "ones"),
        ("first", "int32", [32, 64], "arange"), ("second", "int32", [32, 64], "ones"),
    )
)  # fmt: skip
FIELDS = """
[[argument]]
bytes = "{raw}"
fields = [
    { at = 0, buffer = "x" },
    { at = 8, buffer = "y" },
    { at = 16, value = 100, type = "s32" },
    { at = 128, tensor_map = "first", box = [8, 16] },
    { at = 288, buffers = ["row"] },
    { at = 296, tensor_maps = [{ tensor_map = "first", box = [8, 16] }, { tensor_map = "second", box = [8, 16] }] },
]
"""


def recorded() -> str:
    """Return the bytes of the parameter of `rich`, with other addresses, as hexadecimal digits."""
    raw = bytearray(b"\xee" * 384)
    for at, value in ((20, np.arange(1, 5, dtype=np.float32)), (256, np.int32(16)), (264, np.int64(8)),
                      (272, np.array([0.5, 0, 0, 0], np.float32)), (304, np.uint8(7))):  # fmt: skip
        raw[at : at + value.nbytes] = value.tobytes()
    return raw.hex(" ", 4)


@pytest.mark.parametrize("form", ["struct", "bytes"])
def test_a_structure_of_a_launch_file(form: str, tmp_path: Path) -> None:
    text = RICH if form == "struct" else RICH[: RICH.index("[[")] + FIELDS.replace("{raw}", recorded())
    (tmp_path / "l.toml").write_text(text + BUFFERS)
    plan = read_launch_file(tmp_path / "l.toml")
    args, arrays, *_ = plan.prepare()
    wl.launch(plan.ptx, plan.kernel, **plan.keywords, args=args)
    i = np.arange(128)
    expected = i * (i % 4 + 1) + 0.5 + 1 + tile(arrays["first"], 8, 16) + 2 + 7
    np.testing.assert_array_equal(arrays["y"], np.where(i < 100, expected, 0))


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("n = 100", "m = 100", r"argument\[0\].values: the structure Params has no field 'm'; expected x, y"),
        ("n = 100", "n = 1.5", r"argument\[0\].values: field 'n' at byte 16 \(int\) is 1.5; expected an integer"),
        ("n = 100", 'n = "a"', r'argument\[0\].values.n: found the string "a"; expected a number, an array or a table'),
        ("n = 100", "", r"lacks values for n \(int, byte 16\)"),
        ("flag = 7", "flag = { value = 300 }", r"field 'flag' at byte 304 \(unsigned char\) is 300; expected"),
        ('x = { buffer = "x" }', 'x = { buffer = "z" }', r'argument\[0\].values.x.buffer: there is no buffer "z"'),
        ('x = { buffer = "x" }', "x = { fields = [] }", r"argument\[0\].values.x.fields: unknown key"),
        ('rows = { buffers = ["row"] }', "rows = { buffers = [] }", r"buffers: found an empty array"),
        ('rows = { buffers = ["row"] }', "rows = { buffers = [5] }", r"buffers\[0\].buffer: found the integer 5"),
        ('rows = { buffers = ["row"] }', 'rows = { buffers = ["row", { buffer = "row", offset = 512 }] }',
         r"buffers\[1\].offset: found 512; expected an integer from 0 to 511"),
        ("const __half *x", "half x[", r"argument\[0\].struct: line 2, column .*; expected the number of elements"),
        ('struct = """', 'sruct = """', r"argument\[0\].sruct: unknown key"),
        ("[argument.values]", "[argument.valeus]", r"argument\[0\].valeus: unknown key"),
    ],
)  # fmt: skip
def test_mistakes_in_a_launch_file(right: str, wrong: str, message: str, tmp_path: Path) -> None:
    assert right in RICH
    (tmp_path / "l.toml").write_text(RICH.replace(right, wrong, 1) + BUFFERS)
    with pytest.raises(LaunchFileError, match=message):
        read_launch_file(tmp_path / "l.toml").prepare()


def test_bytes_are_hexadecimal(tmp_path: Path) -> None:
    text = RICH[: RICH.index("[[")] + FIELDS.replace("{raw}", "0x00") + BUFFERS
    (tmp_path / "l.toml").write_text(text)
    with pytest.raises(LaunchFileError, match=r"argument\[0\].bytes: the string is not hexadecimal"):
        read_launch_file(tmp_path / "l.toml")


# warploom init ------------------------------------------------------------------------------------------------------


def made(kernel: str, tmp_path: Path, *values: str) -> str:
    """Return the launch file that `warploom init` writes, with values for its texts `fill in`, in their order."""
    path = tmp_path / "made.toml"
    assert main(["init", str(STRUCTURES), "--kernel", kernel, "-o", str(path)]) == 0
    text = path.read_text()
    for value in values:
        start = text.index('"fill in: ')
        text = text[:start] + value + text[text.index('"', start + 1) + 1 :]
    return text


def test_the_fields_of_a_structure_are_inferred_from_their_uses(tmp_path: Path) -> None:
    text = made("rich", tmp_path)
    expected = [
        '{ at = 0, buffer = "p0_0" },  # bytes 0 to 7: an address, read',
        '{ at = 8, buffer = "p0_8" },  # bytes 8 to 15: an address, written',
        "# bytes 16 to 19: a number, .u32",
        "# bytes 20 to 23: a number, .f32; the kernel computes the offset, so further elements may follow",
        "# bytes 128 to 255: a tensor map; loads of 2 dimensions",
        '{ at = 288, buffers = ["p0_288"] },  # bytes 288 to 295: a table of addresses, guess: one address',
        "# bytes 296 to 303: the address of tensor maps, guess: one map; loads of 2 dimensions",
        "# byte 304: a number, .u8",
    ]
    places = [text.index(line) for line in expected]
    assert places == sorted(places)
    assert '[buffer.p0_288]\ndtype = "float32"\n' in text
    assert '[buffer.p0_0]\ndtype = "float16"\n' in text


def test_a_launch_file_of_tables_runs(tmp_path: Path) -> None:
    text = made("tables", tmp_path, "[8, 16]", "0", '"int32"', "[32, 64]")
    assert text.count("guess: one") == 3  # also one CTA
    text = text.replace('buffers = ["p1"]', 'buffers = ["p1", "p1"]').replace('"normal"', '"arange"')
    (tmp_path / "filled.toml").write_text(text)
    plan = read_launch_file(tmp_path / "filled.toml")
    args, arrays, *_ = plan.prepare()
    initial = arrays["p2"][:128].copy()
    wl.launch(plan.ptx, plan.kernel, **plan.keywords, args=args)
    np.testing.assert_array_equal(arrays["p2"][:128], initial + tile(arrays["p0"], 0, 0) + 2 * arrays["p1"][:128])
