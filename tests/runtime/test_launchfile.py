"""Launch files: what they may say, and the sentence that each mistake ends in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warploom as wl
from warploom.runtime.buffers import DTYPES, Generated
from warploom.runtime.dtypes import dtype_named
from warploom.runtime.launchfile import LaunchPlan, read_launch_file
from warploom.runtime.toml import LaunchFileError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

GOOD = """\
[kernel]
file = "k.ptx"

[launch]
grid = [2, 2]
block = 128

[[argument]]
buffer = "a"

[[argument]]
value = 7

[buffer.a]
dtype = "float16"
shape = [4, 8]
distribution = "normal"

[buffer.c]
dtype = "float32"
shape = [4, 4]
distribution = "zeros"

[expect]
reference = "matmul"
a = "a"
b = "a"
transpose_b = true
result = "c"
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(".version 8.0\n")


def read(text: str) -> LaunchPlan:
    Path("l.toml").write_text(text)
    return read_launch_file(Path("l.toml"))


def refusal(text: str) -> str:
    with pytest.raises(LaunchFileError) as caught:
        read(text)
    return "\n".join(f"{d}{f' | {d.hint}' if d.hint else ''}" for d in caught.value.diagnostics)


def test_a_launch_file_is_read() -> None:
    file = read(GOOD)
    assert file.ptx == Path("k.ptx")
    assert file.kernel is None
    assert file.geometry.grid == (2, 2)
    assert file.geometry.block == (128,)
    assert file.geometry.cluster == (1, 1, 1)
    args, arrays, *_ = file.prepare()
    assert args[0] is arrays["a"]
    assert args[1] == 7
    assert file.buffers["a"] == Generated(np.dtype(np.float16), (4, 8), "normal", seed=0)
    assert file.expect
    assert dict(file.expect.operands) == {"a": "a", "b": "a"}
    assert file.expect.options.transpose_b


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_is_read_and_expects_something(path: Path) -> None:
    file = read_launch_file(path)
    assert file.expect
    assert file.kernel
    assert f".entry {file.kernel}(" in file.ptx.read_text()


def test_every_kind_of_argument() -> None:
    inline = """\
argument = [
    { tensor_map = "a", box = [4, 8], swizzle = 32, oob_fill = "nan", element_strides = [1, 2] },
    { tensor_map = "a", box = [4, 8], l2_promotion = 128 },
    { value = 1.5, type = "f32" },
    { value = 5, type = "u64" },
    { scratch = 384 },
    { null = true },
]
"""
    file = read(inline + GOOD.replace('[[argument]]\nbuffer = "a"\n\n[[argument]]\nvalue = 7\n', ""))
    args, arrays, *_ = file.prepare()
    options: list[Any] = [{"element_strides": (1, 2), "swizzle": 32, "oob_fill": "nan"}, {"l2_promotion": 128}]
    for found, given_options in zip(args, options):
        expected = wl.TensorMap.tiled(arrays["a"], (4, 8), **given_options)
        assert found.array is arrays["a"]
        assert found.fields(0) == expected.fields(0)
    assert args[2:4] == [np.float32(1.5), np.uint64(5)]
    assert [type(arg) for arg in args[2:4]] == [np.float32, np.uint64]
    assert (args[4].nbytes, args[4].any(), args[5]) == (384, False, 0)


MISTAKES = re.findall(r"```diff\n(.*?)```", (Path(__file__).parent / "mistakes.md").read_text(), re.DOTALL)


def marked(block: str, mark: str) -> str:
    return "\n".join(line[2:] for line in block.splitlines() if line.startswith(f"{mark} "))


@pytest.mark.parametrize("block", MISTAKES, ids=[marked(block, "+") or "nothing" for block in MISTAKES])
def test_a_mistake_ends_in_one_sentence_with_its_place(block: str) -> None:
    right, wrong = marked(block, "-"), marked(block, "+")
    assert right in GOOD
    with pytest.raises(LaunchFileError) as caught:
        read(GOOD.replace(right, wrong, 1))
    (diagnostic,) = caught.value.diagnostics
    assert str(diagnostic) == marked(block, ">")
    assert diagnostic.hint == marked(block, "?")


def test_there_are_mistakes() -> None:
    assert len(MISTAKES) > 25


def test_places_inside_an_array_of_inline_tables() -> None:
    text = (
        'argument = [\n    { null = true },\n    { value = 1, typ = "u32" },\n]\n' + GOOD[: GOOD.index("[[argument]]")]
    )
    assert refusal(text) == 'l.toml:3:18: argument[1].typ: unknown key | did you mean "type"?'


def test_every_unknown_key_of_a_table_is_reported() -> None:
    text = GOOD.replace("block = 128", "block = 128\nspeed = 3\ncolour = 4")
    assert refusal(text).count("unknown key") == 2


def test_a_missing_file_a_folder_and_bytes_that_are_not_text() -> None:
    for path, sentence in {"no.toml": "there is no file no.toml", ".": ". cannot be read: is a directory"}.items():
        with pytest.raises(LaunchFileError) as caught:
            read_launch_file(Path(path))
        assert str(caught.value) == sentence
    Path("b.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(LaunchFileError, match=r"^b\.toml is not UTF-8 text: byte 5 is 0xff$"):
        read_launch_file(Path("b.toml"))


@given(st.text(alphabet=st.sampled_from(list("[]{}=\"'.,\n #abkernlufti0123_-")), max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(LaunchFileError):
        read(text)


@given(
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple),
    st.sampled_from(["normal", "uniform", "integers", "zeros", "ones", "arange", "bits"]),
    st.integers(0, 2**32),
)
def test_a_generated_buffer_follows_from_its_description_alone(
    dtype: str, shape: tuple[int, ...], distribution: str, seed: int
) -> None:
    buffer = Generated(dtype_named(dtype), shape, distribution, seed)
    first, second = buffer.make(), buffer.make()
    assert first.dtype == dtype_named(dtype)
    assert first.shape == shape
    assert first.nbytes == buffer.nbytes
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert first.tobytes() == second.tobytes()


def test_seeds_make_different_buffers_and_the_default_is_the_place_in_the_file() -> None:
    file = read(
        GOOD.replace(
            '"float32"\nshape = [4, 4]\ndistribution = "zeros"', '"float16"\nshape = [4, 8]\ndistribution = "normal"'
        ).partition("[expect]")[0]
    )
    _, arrays, *_ = file.prepare()
    assert not np.array_equal(arrays["a"], arrays["c"])


def test_integers_reach_both_ends_and_no_further() -> None:
    made = Generated(np.dtype(np.int8), (4096,), "integers").make()
    assert (made.min(), made.max()) == (-128, 127)
    made = Generated(np.dtype(np.float16), (4096,), "integers", low=-2, high=3).make()
    assert sorted(set(made.tolist())) == [-2, -1, 0, 1, 2, 3]


def test_arguments_point_into_the_named_buffers() -> None:
    file = read(GOOD)
    args, arrays, *_ = file.prepare()
    assert args[0] is arrays["a"]
    assert args[1] == 7


NPY = GOOD.replace('dtype = "float16"\nshape = [4, 8]\ndistribution = "normal"', 'file = "a.npy"')


def test_a_stored_buffer() -> None:
    stored = np.asfortranarray(np.arange(32, dtype=np.float32).reshape(4, 8))
    np.save("a.npy", stored)
    file = read(NPY)
    _, arrays, *_ = file.prepare()
    assert np.array_equal(arrays["a"], stored)
    assert arrays["a"].flags.c_contiguous
    assert arrays["a"].flags.writeable


def test_a_stored_buffer_of_a_type_that_numpy_cannot_name() -> None:
    stored = np.arange(8).astype(ml_dtypes.bfloat16)
    np.save("a.npy", stored)
    assert refusal(NPY) == (
        "l.toml:15:1: buffer.a.file: a.npy holds elements of type |V2 | dtype states the type of the bytes"
    )
    file = read(NPY.partition("[expect]")[0].replace('file = "a.npy"', 'file = "a.npy"\ndtype = "bfloat16"'))
    _, arrays, *_ = file.prepare()
    assert arrays["a"].dtype == ml_dtypes.bfloat16
    assert arrays["a"].tobytes() == stored.tobytes()


def test_stored_buffers_that_are_refused() -> None:
    place = "l.toml:15:1: buffer.a.file: "
    assert refusal(NPY) == f"{place}there is no file a.npy"
    Path("a.npy").write_bytes(b"not an array")
    assert refusal(NPY).startswith(f"{place}a.npy is not a .npy file of numbers: ")
    np.save("a.npy", np.array([{}]), allow_pickle=True)
    assert refusal(NPY).startswith(f"{place}a.npy is not a .npy file of numbers: ")
    np.save("a.npy", np.array([1j]))
    assert refusal(NPY).startswith(f"{place}a.npy holds elements of type complex128 | expected float64, float32")
    np.save("a.npy", np.zeros(4, np.float32))
    assert refusal(NPY.replace('file = "a.npy"', 'file = "a.npy"\ndtype = "float16"')) == (
        f"{place}a.npy holds elements of 4 bytes; expected 2 for float16"
    )
    whole = Path("a.npy").read_bytes()
    Path("a.npy").write_bytes(whole[:-1])
    assert refusal(NPY).startswith(f"{place}a.npy is not a .npy file of numbers: ")


def test_buffers_beyond_the_limit_are_refused_before_they_are_made() -> None:
    file = read(GOOD.replace("[4, 8]", "[1048576, 1048576]").replace("value = 7", "scratch = 1048576"))
    with pytest.raises(LaunchFileError) as caught:
        file.prepare()
    assert str(caught.value) == (
        "the buffers take 2048.0 GiB, more than the limit of 4.0 GiB; the largest is a with 2048.0 GiB"
    )
    file = read(GOOD.replace("value = 7", "scratch = 2000"))
    with pytest.raises(LaunchFileError, match="the largest is scratch"):
        file.prepare(limit=2000)
    file.prepare(limit=2000 + 64 + 64)
