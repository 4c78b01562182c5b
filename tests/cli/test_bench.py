"""`warploom bench gemm`: wrong options, and the output for given times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from kernels.numpy_peer import Clock, NumPy

import warploom as wl
from warploom.cli import bench, main
from warploom.gpu import DeviceFault, State, Timing
from warploom.kernels.hopper.cost_model import choose
from warploom.kernels.timing.cases import KINDS, Case, Kind, draw
from warploom.kernels.timing.speed import Comparison, WrongResult

STATE = State(1410, 3201, 699.6, 61)
HINT = "\n  hint: `warploom bench gemm --help` lists the arguments\n"
SHAPE = "expected M, N and K such as 4096x2112x7168\n  hint: `warploom bench gemm --help` lists the arguments"
ABOUT: dict[str, Any] = {
    "gpu": "a <GPU>", "driver": "580.159.04", "cuda": "13.0", "peer": "PyTorch 2.11", "date": "2026-01-01",
}  # fmt: skip


def compared(name: str, m: int, n: int, k: int, ours: float, theirs: float) -> Comparison:
    case = Case(KINDS[name], m, n, k)
    plan, share = choose(case.problem, case.plan)
    return Comparison(case, plan.tile, share, Timing((ours,)), Timing((theirs,)), 10, 2, 0.01, STATE)


FOUND = [
    compared("bf16", 4096, 4096, 4096, 200.0, 210.0),
    compared("bf16", 64, 24576, 1536, 25.0, 20.0),
    compared("s8", 8192, 8192, 8192, 800.0, 1000.0),
]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--types", "bf16,f61"],
            (
                "error[usage]: --types: found 'f61'; expected some of bf16, f16, tf32, e4m3, e4m3-accurate, s8,"
                " f16-sparse\n"
            ),
        ),
        (
            ["--types", "bf16", "--peer", "cupy"],
            "error[usage]: --types: found 'bf16'; expected some of f16, tf32, f16-sparse\n",
        ),
        (["--shapes", "4096x4096"], f"error[usage]: --shapes: found '4096x4096'; {SHAPE}\n"),
        (["--shapes", "64x64x64,0x1x1"], f"error[usage]: --shapes: found '0x1x1'; {SHAPE}\n"),
        (["--shapes", "8x8x8", "--draw", "1"], "error[usage]: found --draw and --shapes; expected one of them\n"),
        (["--draw", "-1"], f"error[usage]: --draw: found '-1'; expected an integer of at least 0{HINT}"),
        (["--repetitions", "0"], f"error[usage]: --repetitions: found '0'; expected an integer of at least 1{HINT}"),
        (["--svg", "no/where.svg"], "error[usage]: --svg: no/where.svg cannot be written: there is no folder no\n"),
        (["--json", "."], "error[usage]: --json: . cannot be written: it is a folder\n"),
    ],
)
def test_what_cannot_be_asked(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "gemm", *options]) == 2
    assert capsys.readouterr() == ("", said)


def test_a_report_says_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.report(FOUND, ABOUT, STATE, STATE) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "a <GPU>, driver 580.159.04, CUDA 13.0, PyTorch 2.11",
        "before: SM 1410 MHz, memory 3201 MHz, power 700 W, temperature 61 °C",
        "after: SM 1410 MHz, memory 3201 MHz, power 700 W, temperature 61 °C",
        "type M x N x K ours, TFLOP/s PyTorch 2.11 ratio tile",
        *(
            f"{each.case.kind.name} {each.case.m}x{each.case.n}x{each.case.k} {rates} "
            + bench.tile_text(each.tile, each.schedule.split)
            for each, rates in zip(
                FOUND, ["687.2 654.5 1.050", "193.3 241.6 0.800", "1374.4 1099.5 1.250"], strict=True
            )
        ),
        "bf16: geometric mean 0.917, smallest 0.800 (64x24576x1536)",
        "s8: geometric mean 1.250, smallest 1.250 (8192x8192x8192)",
    ]


def test_a_sparse_kind_stands_in_a_table_of_its_own_beside_our_dense_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sparse = compared("f16-sparse", 8192, 8192, 8192, 1000.0, 1600.0)
    bench.report([FOUND[0], sparse], ABOUT, STATE, STATE, tmp_path / "x.json", tmp_path / "x.svg")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    heads = [number for number, line in enumerate(lines) if line.startswith("type M x N x K")]
    assert [lines[number] for number in heads] == [
        "type M x N x K ours, TFLOP/s PyTorch 2.11 ratio tile",
        "type M x N x K ours, TFLOP/s our dense ratio tile",
    ]
    assert lines[heads[1] + 1].startswith("f16-sparse 8192x8192x8192 1099.5 687.2 1.600")
    assert lines[-1] == "f16-sparse beside our dense: geometric mean 1.600, smallest 1.600 (8192x8192x8192)"
    written = json.loads((tmp_path / "x.json").read_text())
    assert [each["beside"] for each in written["results"]] == ["peer", "our dense"]
    assert "f16-sparse beside our dense: 1.600 in the geometric mean" in (tmp_path / "x.svg").read_text()


def test_a_gpu_of_another_architecture_is_not_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Other(Here):
        arch = "sm_80"

    monkeypatch.setattr("warploom.gpu.Gpu", Other)
    assert main(["bench", "gemm", "--types", "bf16"]) == 2
    said = "error[kernels.target]: `bench gemm` times kernels for sm_90a; a <GPU> is sm_80\n"
    assert capsys.readouterr() == ("", said)


def test_a_wrong_result_is_told_and_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = WrongResult(Case(KINDS["f16"], 8, 8, 8), float("nan"), "PyTorch")
    assert bench.report([wrong, FOUND[0]], ABOUT, STATE, STATE, tmp_path / "x.json") == 1
    assert capsys.readouterr().out.endswith(f"{wrong}\n")
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["wrong"] == ["f16 8x8x8"]
    assert len(written["results"]) == 1


def test_files_hold_what_was_found(tmp_path: Path) -> None:
    bench.report(FOUND, ABOUT, STATE, STATE, tmp_path / "x.json", tmp_path / "x.svg")
    written = json.loads((tmp_path / "x.json").read_text())
    assert written["gpu"] == "a <GPU>"
    assert written["state"]["after"]["power"] == 699.6
    assert [each["ratio"] for each in written["results"]] == pytest.approx([1.05, 0.8, 1.25])
    assert written["results"][0]["tile"]["rows"] == FOUND[0].tile.rows
    texts = {each.text for each in ET.parse(tmp_path / "x.svg").iter() if each.text}
    assert {"GEMM on a <GPU>", "Warploom", "PyTorch 2.11", "1.05", "0.80", "1.25", "64 × 24576", "× 1536"} <= texts


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(wl.UsageError, match="cannot be written: is a directory"):
        bench.report(FOUND, ABOUT, STATE, STATE, tmp_path)


def test_a_tile_in_words() -> None:
    assert bench.tile_text(FOUND[0].tile, 0).startswith(f"{FOUND[0].tile.rows}x{FOUND[0].tile.columns}")
    assert bench.tile_text(replace(bench_tile(), rows=128, blocks=2), 0) == "128x128, 2 blocks, pingpong, cluster 2"
    assert bench.tile_text(bench_tile(), 12) == "64x128, pingpong, cluster 2, 12 split"


def bench_tile() -> Any:
    from warploom.kernels import Tile

    return Tile(64, 128, 4, 2, pingpong=True, buffers=1)


class Here:
    """A GPU by name."""

    name, driver, arch = "a <GPU>", "13.0", "sm_90a"

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait(self) -> None: ...


class Failing(NumPy):
    """Refuses sizes with an M of 8, breaks the GPU at one of 24, and is told apart from ours at one of 16."""

    def multiply(self, kind: Kind) -> Any:
        right = super().multiply(kind)

        def multiply(a: Any, b: Any, d: Any) -> None:
            if a.shape[0] == 8:
                raise RuntimeError("8 rows are too few. See the manual.")
            if a.shape[0] == 24:
                raise DeviceFault.of("the GPU stopped a kernel")
            right(a, b, d)
            if a.shape[0] == 16:
                d[0, 0] = 1e3

        return multiply


@pytest.mark.parametrize(
    ("rows", "status", "timed", "told"),
    [
        ((32,), 0, 1, ""),
        ((32, 16, 32), 1, 1, ""),
        ((8, 32, 16), 2, 1, "bf16 8x64x64: error[bench.peer]: NumPy refuses bf16 8x64x64: 8 rows are too few\n"),
        ((32, 24, 40), 2, 1, "bf16 24x64x64: error[gpu.fault]: the GPU stopped a kernel\n"),
    ],
)
def test_what_fails_takes_nothing_from_what_was_found(
    rows: tuple[int, ...],
    status: int,
    timed: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def ours(a: Any, b: Any, *, out: Any, fast: bool) -> None:
        NumPy().multiply(KINDS["bf16"])(a, b, out)

    def measure(gpu: Here, calls: Any, *, repetitions: int, by: str, warm_up: float) -> Any:
        assert (by, warm_up) == ("events", 0.25)
        return Clock()(calls, repetitions)

    monkeypatch.setattr("warploom.gpu.Gpu", Here)
    monkeypatch.setattr("warploom.gpu.state", lambda gpu: STATE)
    monkeypatch.setattr("warploom.gpu.measure", measure)
    monkeypatch.setattr("warploom.kernels.gemm", ours)
    monkeypatch.setattr("warploom.kernels.timing.cublaslt.PEERS", {"torch": Failing})
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    shapes = ",".join(f"{m}x64x64" for m in rows)
    file = tmp_path / "x.json"
    asked = ["--types", "bf16", "--shapes", shapes, "--by", "events", "--json", str(file)]
    assert main(["bench", "gemm", *asked]) == status
    said = capsys.readouterr()
    assert "bf16: geometric mean 1.250, smallest 1.250 (32x64x64)" in said.out
    assert said.err.endswith(told)
    assert len(json.loads(file.read_text())["results"]) == timed


def test_random_cases_are_timed_and_recorded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    def ours(bench: Any, case: Case, gemm: Any, state: Any) -> Comparison:
        asked.append((case.kind.name, case.size))
        plan, share = choose(case.problem, case.plan)
        return Comparison(case, plan.tile, share, Timing((1.0,)), Timing((2.0,)), 10, 2, 0.01, STATE)

    monkeypatch.setattr("warploom.gpu.Gpu", Here)
    monkeypatch.setattr("warploom.gpu.state", lambda gpu: STATE)
    monkeypatch.setattr("warploom.kernels.timing.speed.compare", ours)
    monkeypatch.setattr("warploom.kernels.timing.cublaslt.PEERS", {"cublaslt": NumPy})
    file = tmp_path / "x.json"
    options = ["--types", "f16,tf32", "--draw", "5", "--count", "40", "--peer", "cublaslt", "--json", str(file)]
    assert main(["bench", "gemm", *options]) == 0
    drawn = draw(5, 40, [KINDS["f16"], KINDS["tf32"]])
    assert asked == [(each.kind.name, each.size) for each in drawn]
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert all(any(line.startswith(f"{name} {size} ") for line in lines) for name, size in asked)
    written = json.loads(file.read_text())
    assert written["draw"] == 5
    assert [
        Case(KINDS[each["type"]], *(each[name] for name in ("m", "n", "k", "a_major", "b_major", "batch")))
        for each in written["results"]
    ] == drawn
