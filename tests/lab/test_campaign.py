"""Instruction experiments: inputs, comparison, reported differences and samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.layout import metadata as metadata_map
from warploom.runtime.api import launch
from warploom_lab.campaign import FAMILIES, Sample, compare, differing, experiment, experiments, patterns, sample
from warploom_lab.cli import main

# Bits of mantissa and exponent, from the definitions of the formats.
FORMAT_BITS = {"f16": (10, 5), "bf16": (7, 8), "e4m3": (3, 4), "e5m2": (2, 5), "f32": (23, 8), "f64": (52, 11)}


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Emulator in place of the GPU; each change in the list is applied to the arrays that it returns."""
    changes: list[Any] = []

    def launched(kernel: str, *, device: str, args: list[Any], **options: Any) -> None:
        launch(kernel, args=args, **options)
        for change in changes if device == "cuda" else ():
            change(args)

    monkeypatch.setattr(experiment, "launch", launched)
    return changes


def test_inputs_are_reproducible() -> None:
    assert [hex(int(word)) for word in patterns.draw(7, 3)] == [
        "0xa00641a9f1e54a8b",
        "0xe5afcdbcaf266a95",
        "0xc693565f940af962",
    ]


@pytest.mark.parametrize("element", FORMAT_BITS)
@pytest.mark.parametrize("kind", patterns.KINDS)
def test_exponents_of_each_kind(element: str, kind: str) -> None:
    mantissa, exponent = FORMAT_BITS[element]
    found = patterns.patterns(element, kind, patterns.draw(1, 4096))
    assert int(found.max()) < 1 << (mantissa + exponent + 1)
    fields = found >> np.uint64(mantissa) & np.uint64((1 << exponent) - 1)
    top, middle = (1 << exponent) - 1, (1 << (exponent - 1)) - 1
    if kind == "subnormal":
        assert int(fields.max()) <= 2
        assert (fields == 0).mean() > 0.4
    elif kind == "near overflow":
        assert int(fields.min()) >= top - 2
    elif kind == "normal":
        assert int(abs(fields.astype(int) - middle).max()) <= 2
    elif kind == "zeros":
        zero = found & np.uint64((1 << (mantissa + exponent)) - 1) == 0
        assert 0.7 < zero.mean() < 0.8
        assert 0.4 < (found[zero] != 0).mean() < 0.6
    elif kind == "raw":
        assert set(fields) >= {0, top}


@pytest.mark.parametrize("family", FAMILIES)
def test_experiments_of_every_family_run(family: str, gpu: list[Any]) -> None:
    found = list(experiments([family]))
    for each in found[:: max(1, len(found) // 8)]:
        outcome = compare(each, 8, seed=3)
        assert (outcome.mismatches, outcome.first) == (0, None)
        assert outcome.outputs > 0


def test_a_difference_is_reported_with_its_location(gpu: list[Any]) -> None:
    each = next(experiments(["mma.half"]))
    assert each.outputs == ("d",)

    def flip(args: list[Any]) -> None:
        args[0][9, 5, 1] ^= 0x0001_0000

    gpu.append(flip)
    outcome = compare(each, 16, seed=1)
    assert outcome.mismatches == 1
    said = str(outcome.first)
    assert said.startswith("case 9 (normal), d, thread 5, register 1: the GPU has 0x")
    real, emulated = (int(word.strip(","), 16) for word in said.split() if word.startswith("0x"))
    assert real ^ emulated == 0x0001_0000


def test_sparse_metadata_is_legal() -> None:
    for each in experiments(["sparse.float"]):
        words = each.operands["e"].make
        assert words is not None
        made = words("raw", patterns.draw(1, 64).reshape(2, 32, 1))[..., 0]
        opcode = each.instruction.split(" ")[0].rstrip(";").split(".")
        shape = next(word for word in opcode if word.startswith("m16"))
        found = metadata_map("mma", shape, opcode[-2], 0)
        assert found.defined_nibbles(ordered="sp::ordered_metadata" in opcode)[found.nibbles(made)].all()


def test_a_sample_is_read_back_and_compared(tmp_path: Path, gpu: list[Any]) -> None:
    chosen = list(experiments(["matrix.movmatrix", "mma.bit"]))
    taken = sample(chosen, "cuda", 5)
    taken.write(tmp_path / "s.npz")
    again = Sample.read(tmp_path / "s.npz")
    assert again.seed == 5
    assert {name: list(each) for name, each in again.digests.items()} == {
        name: list(each) for name, each in taken.digests.items()
    }
    assert list(differing(again, chosen)) == []
    name = next(iter(again.digests))
    again.digests[name][3] ^= np.uint64(1)
    assert list(differing(again, chosen)) == [(name, 3)]


def test_a_file_without_a_sample_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    path.write_text("no")
    with pytest.raises(wl.UsageError, match=r"s\.npz is not a sample of a campaign"):
        Sample.read(path)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bulk"], "no experiment on 'bulk': it does not run on sm_90a, or has no output"),
        (["mmma"], "unknown family, form or instruction 'mmma'"),
        (["mma", "--cases", "6"], "--cases is 6; expected a multiple of 4"),
        (["mma", "--every", "0"], "--every is 0; expected 1 or more"),
        (["mma", "--against", "nowhere.npz"], "nowhere.npz is not a sample of a campaign"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_the_command_compares_with_a_sample(tmp_path: Path, gpu: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "s.npz")
    assert main(["compare", "matrix.movmatrix", "--record", path]) == 0
    assert main(["compare", "matrix.movmatrix", "--against", path]) == 0
    gpu.append(lambda args: args[0].__setitem__((40, 0, 0), 1))
    assert main(["compare", "matrix.movmatrix", "--record", path]) == 0
    assert main(["compare", "matrix.movmatrix", "--against", path]) == 1
    assert "case 40 differs from the GPU's result" in capsys.readouterr().out
