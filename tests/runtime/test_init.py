"""Launch files made from PTX: what they say of parameters, that they run, and what they ask for."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from warploom.cli import main
from warploom.diagnostics import WarploomError
from warploom.ptx import parse
from warploom.runtime.api import launch
from warploom.runtime.buffers import Array
from warploom.runtime.init import write
from warploom.runtime.launchfile import LaunchPlan, read_launch_file

TESTS = Path(__file__).parents[1]
CORPUS = TESTS / "corpus"
MADE = Path(__file__).parent / "init"
INDEX = json.loads((CORPUS / "index.json").read_text())
UNFILLED = re.compile(r'"fill in: [^"]*"')
DTYPES = {
    "*fp16": "float16",
    "*bf16": "bfloat16",
    "*fp32": "float32",
    "*fp64": "float64",
    "*fp8e4nv": "float8_e4m3fn",
    "*i8": "int8",
    "*u8": "uint8",
    "*i32": "int32",
}


module_of = cache(lambda path: parse(path.read_text()))


def kernels() -> Iterator[object]:
    for path in (*sorted(CORPUS.glob("*.ptx")), *sorted(MADE.glob("*.ptx"))):
        for name in re.findall(r"\.entry (\S+?)\(", path.read_text()):
            yield pytest.param(path, name, id=f"{path.stem}-{name[:20]}")


def kinds_of(args: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What the index says that each parameter takes, and the type."""
    for _, word in args:
        if word.startswith("tensordesc"):
            yield from [("tensor_map", "float16"), *[("value", "")] * 4]
        else:
            yield ("buffer", DTYPES[word]) if word[0] == "*" else ("value", "")
    yield from [("scratch", "")] * 2  # the compiler's


@pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["file"])
def test_the_parameters_of_the_corpus_are_what_its_index_says(entry: dict[str, object]) -> None:
    path = CORPUS / str(entry["file"])
    text = write(parse(path.read_text()), None, path.name)
    document = tomllib.loads(text)
    assert document["launch"]["block"] == entry["block"]
    assert document["launch"].get("shared", 0) >= entry["shared"]
    expected = list(kinds_of(entry["args"]))  # type: ignore[arg-type]
    assert len(document["argument"]) == len(expected)
    for argument, (kind, dtype) in zip(document["argument"], expected, strict=True):
        found = next(iter(argument))
        if kind == "scratch":
            assert found in ("null", "scratch")
            continue
        assert found == kind
        if kind in ("buffer", "tensor_map"):
            said = re.search(rf'\[buffer\.{argument[found]}\]\ndtype = "([^"]*)"(.*)', text)
            assert said is not None
            guesses = "states only" in said[2] or said[1].startswith("fill in")
            assert guesses or said[1] == dtype


@pytest.mark.parametrize(("path", "kernel"), list(kernels()))
def test_a_file_is_read_or_says_what_to_fill_in(path: Path, kernel: str, tmp_path: Path) -> None:
    target = tmp_path / "launch.toml"
    text = write(module_of(path), kernel, str(path))
    target.write_text(text)
    missing = UNFILLED.findall(text)
    if not missing:
        assert read_launch_file(target).kernel == kernel
        return
    with pytest.raises(WarploomError) as refused:
        read_launch_file(target)
    found = refused.value.diagnostics
    assert {each.code for each in found} == {"launch-file/fill-in"}
    assert len(found) == len(missing)
    for each in found:
        assert each.source is not None
        assert each.span is not None
        line, _ = each.source.position(each.span.start)
        assert "fill in: " in text.splitlines()[line - 1]


def filled(text: str, values: Sequence[str]) -> str:
    """A launch file with these for what is to be filled in, from the top."""
    assert len(UNFILLED.findall(text)) == len(values)
    given = iter(values)
    return UNFILLED.sub(lambda _: next(given), text)


def init(tmp_path: Path, ptx: str | Path, kernel: str, *values: str) -> LaunchPlan:
    target = tmp_path / f"{kernel[:30]}.toml"
    main(["init", str(MADE / ptx), "--kernel", kernel, "-o", str(target), "--force"])
    text = filled(target.read_text(), values)
    target.write_text(text.replace('"normal"', '"arange"') if '"int32"' in text else text)
    return read_launch_file(target)


def run(file: LaunchPlan) -> tuple[dict[str, Array], dict[str, Array]]:
    """The buffers before and after."""
    args, arrays, *_ = file.prepare()
    before = {name: array.copy() for name, array in arrays.items()}
    at = file.geometry
    launch(file.ptx, file.kernel, grid=at.grid, block=at.block, cluster=at.cluster, shared=at.shared, args=args)
    return before, arrays


def test_a_kernel_of_addresses_alone_runs_as_it_is(tmp_path: Path) -> None:
    before, after = run(init(tmp_path, "kernels.ptx", "halves"))
    assert before["p0"].dtype == np.float16
    assert np.array_equal(after["p1"][:256], before["p0"][:256] * before["p0"][:256])
    assert not after["p1"][256:].any()


def test_a_kernel_of_gluon_runs_as_it_is(tmp_path: Path) -> None:
    before, after = run(init(tmp_path, CORPUS / "gluon_wgmma_ss_f16_64x64x64_sm90.ptx", "g_small_wgmma"))
    a, b = (before[name][:4096].reshape(64, 64).astype(float) for name in ("p0", "p1"))
    found = after["p2"][:4096].view(np.float32).reshape(64, 64)
    assert abs(found - a @ b).max() < 1e-4


def test_a_kernel_of_triton_is_filled_in(tmp_path: Path) -> None:
    before, after = run(init(tmp_path, CORPUS / "vadd_f32_sm90.ptx", "vadd", "1000"))
    assert np.array_equal(after["p2"][:1000], before["p0"][:1000] + before["p1"][:1000])
    assert not after["p2"][1000:].any()


def test_dynamic_shared_memory_is_as_much_as_there_can_be(tmp_path: Path) -> None:
    before, after = run(init(tmp_path, "kernels.ptx", "reversed"))
    doubled = (before["p0"][:128] + before["p0"][:128])[::-1]
    assert np.array_equal(after["p1"][:128].view(np.uint16), doubled.view(np.uint16))


def test_numbers_are_filled_in(tmp_path: Path) -> None:
    before, after = run(init(tmp_path, "kernels.ptx", "axpy", "2.0", "100"))
    assert np.array_equal(after["p1"][:100], before["p1"][:100] + 2 * before["p0"][:100])
    assert np.array_equal(after["p1"][100:], before["p1"][100:])


def test_a_structure_by_value_has_its_fields(tmp_path: Path) -> None:
    file = init(tmp_path, "kernels.ptx", "transposed", "128", "1", "100")
    before, after = run(file)
    assert np.array_equal(after["p0_8"].reshape(-1, 128)[:100, 0], before["p0_0"][:100])


def test_a_tensor_map_and_a_cluster(tmp_path: Path) -> None:
    values = ["[8, 16]", "0", "16", "8", '"int32"', "[32, 64]"]
    file = init(tmp_path, "kernels.ptx", "box", *values)
    before, after = run(file)
    tile = before["p0"][16:24, 8:24].reshape(-1)
    assert np.array_equal(after["p1"][:256].view(np.int32), np.tile(tile, 2))
    assert file.geometry.cluster == (2,)


def test_structures_that_hold_a_tensor_map(tmp_path: Path) -> None:
    kernel = "kernel_cutlass_copy_tensor000001div16_o_8128_TiledCopy_0"
    tensor = ['"float16"', "[64, 64]"]
    maps = ["[32, 32]", "0"]
    values = [*maps, "10", "8", "16", "8", *maps, *tensor, *tensor]
    before, after = run(init(tmp_path, "cute.ptx", kernel, *values))
    tile = before["p0"][8:40, 8:40]
    assert np.array_equal(after["p2_64"][8:40, 8:40], tile)
    tensor = after["p1_0"][: 16 * 16].reshape(16, 16)
    assert np.array_equal(tensor[:10, :8], (tile.reshape(-1)[:80] * 2).reshape(10, 8))
    assert not tensor[10:].any()
    assert not tensor[:, 8:].any()


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = str(MADE / "kernels.ptx")
    target = tmp_path / "here.toml"
    target.write_text("mine")
    command = ["init", ptx, "--kernel", "axpy", "-o", str(target)]
    assert main(command) == 2
    assert target.read_text() == "mine"
    assert "here.toml exists" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert "2 values must be filled in" in capsys.readouterr().out


def test_the_text_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(CORPUS / "vadd_f32_sm90.ptx"), "-o", "-"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["kernel"]["name"] == "vadd"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([str(MADE / "kernels.ptx")], "5 kernels (axpy, halves, reversed, transposed, box)"),
        ([str(MADE / "kernels.ptx"), "--kernel", "saxpy"], "unknown kernel 'saxpy'"),
        ([str(MADE / "absent.ptx")], "there is no file"),
        ([str(MADE / "cute.ptx"), "-o", "absent/launch.toml"], "cannot be written: no such file or directory"),
    ],
)
def test_mistakes(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ('{ at = 16, buffer = "x" }', "expected a field within the 16 bytes"),
        ("{ at = 8, value = 1 }", "type is missing"),
        ('{ at = 8, value = 300, type = "u8" }', "expected an integer from 0 to 255"),
        ("{ at = 0 }", "expected exactly one of buffer, tensor_map, value, scratch, null"),
        ('{ value = 1, type = "u8" }', "at is missing"),
    ],
)
def test_mistaken_fields(fields: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 8 .b8 s[16]) { ret; }\n"
    )
    text = f'kernel.file = "k.ptx"\nlaunch.grid = 1\nlaunch.block = 32\n[[argument]]\nfields = [\n{fields}\n]\n'
    text += '[buffer.x]\ndtype = "float32"\nshape = [4]\ndistribution = "zeros"\n'
    (tmp_path / "k.toml").write_text(text)
    assert main(["run", str(tmp_path / "k.toml")]) == 2
    assert said in capsys.readouterr().err
