"""Campaigns: the report does not depend on the executor or on interruptions."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_jobs import dies, square
from hypothesis import given
from hypothesis import strategies as st

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import describe_worker
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.distribution import WorkReport
from warploom_lab.campaign import Experiment
from warploom_lab.campaign.jobs import Selection
from warploom_lab.campaign.sample import Sample
from warploom_lab.campaign.small_kernels import Record
from warploom_lab.campaign.tensor_record import TensorSample
from warploom_lab.cli import campaign_options, compare_problems, compare_tensor, evidence_legality, main
from warploom_lab.gemm import Recorded
from warploom_lab.ptxas import assembler, cached
from warploom_lab.ptxas.cached import Chunk
from warploom_lab.work import executors
from warploom_lab.work.campaign import Campaign, Progress, run
from warploom_lab.work.executors import processes, threads

RECORD = Path(__file__).parents[1] / "evidence" / "campaign" / "kernels-h200.npz"


def campaign_of(tasks: Sequence[int], group: int = 1) -> Campaign[int, int]:
    return Campaign({"campaign": "squares"}, square, 1, tasks, int, int, group)


class Interrupted:
    """Executor that runs tasks in a given order, raises after some of them, and counts each task."""

    def __init__(self, campaign: Campaign[int, int]) -> None:
        self.campaign, self.runs = campaign, Counter[int]()

    def executor(self, most: int, order: Sequence[int] = ()) -> Any:
        def execute(tasks: Sequence[int], progress: Progress) -> Iterator[Sequence[tuple[int, int]]]:
            places = [at for at in order if at < len(tasks)] or list(range(len(tasks)))
            for done, at in enumerate(places, 1):
                if done > most:
                    raise KeyboardInterrupt
                self.runs[tasks[at]] += 1
                progress(done)
                yield [(at, square(1, tasks[at], None))]

        return execute


# Checkpoints -----------------------------------------------------------------------------------------------


@given(st.permutations(range(12)), st.lists(st.integers(0, 6), max_size=4))
def test_each_task_runs_once_despite_interruptions(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], ends: list[int]
) -> None:
    path = tmp_path_factory.mktemp("resumed") / "j.jsonl"
    campaign = campaign_of(range(12))
    interrupted = Interrupted(campaign)
    seen: list[int] = []
    received: list[int] = []
    for most in ends:
        try:
            run(campaign, interrupted.executor(most, order), path, seen.append)
        except KeyboardInterrupt:
            assert seen[-1] == sum(interrupted.runs.values())
    found = run(campaign, interrupted.executor(99), path, seen.append, received.append)
    assert found == [task * task + 1 for task in range(12)]
    assert sorted(received) == found
    assert seen[-1] == 12
    assert interrupted.runs == Counter(range(12))


def test_results_before_a_failure_are_kept(tmp_path: Path) -> None:
    campaign, path = campaign_of([1, 2, 13, 4]), tmp_path / "j.jsonl"
    with pytest.raises(UsageError, match="13 is not squared"):
        run(campaign, processes(campaign, 1), path)
    tasks = [json.loads(line).get("task") for line in path.read_text().splitlines()]
    assert tasks == [None, 0, 1]


def test_an_unreadable_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    odd = Campaign({"campaign": "squares"}, square, 1, [1, 2], str, str)
    run(odd, processes(odd, 1), path)
    text = Campaign({"campaign": "squares"}, square, 1, [1, 2], str, lambda data: data["value"])
    with pytest.raises(UsageError) as caught:
        run(text, processes(text, 1), path)
    assert str(caught.value) == f"{path} has an unreadable result of task 0"


# Executors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("make", [processes, threads])
def test_local_executors_run_every_task(make: Any, count: int) -> None:
    campaign = campaign_of(range(5, 12))
    assert run(campaign, make(campaign, count)) == [task * task + 1 for task in range(5, 12)]
    unlucky = campaign_of([1, 13])
    with pytest.raises(UsageError, match="13 is not squared"):
        run(unlucky, make(unlucky, count))


def test_a_lost_process_is_reported() -> None:
    campaign = Campaign({}, dies, None, [0, 1, 1], int, int)
    with pytest.raises(UsageError, match="a worker process ended before it finished its task"):
        run(campaign, processes(campaign, 2))


@pytest.mark.parametrize("group", [1, 3, 50])
def test_dask_workers_run_every_task(group: int, scheduler: str, capsys: pytest.CaptureFixture[str]) -> None:
    campaign = campaign_of(range(20, 30), group)
    seen: list[int] = []
    found = run(campaign, campaign_options.on_dask(campaign, scheduler), None, seen.append)
    assert found == [task * task + 1 for task in range(20, 30)]
    assert seen[-1] == 10
    said = capsys.readouterr().err
    assert f"2 workers at {scheduler}" in said
    assert "worker" in said
    unlucky = campaign_of([1, 13], group)
    with pytest.raises(UsageError, match="13 is not squared"):
        run(unlucky, campaign_options.on_dask(unlucky, scheduler))


def test_dask_workers_continue_a_checkpoint(tmp_path: Path, scheduler: str) -> None:
    path, campaign = tmp_path / "j.jsonl", campaign_of(range(9), 2)
    interrupted = Interrupted(campaign)
    with pytest.raises(KeyboardInterrupt):
        run(campaign, interrupted.executor(4, [3, 1, 2, 8, 0]), path)
    assert run(campaign, campaign_options.on_dask(campaign, scheduler), path) == [task * task + 1 for task in range(9)]
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert [each["task"] for each in lines[:4]] == [3, 1, 2, 8]
    assert sorted(each["task"] for each in lines) == list(range(9))


def test_no_worker_starts_if_the_checkpoint_is_complete(tmp_path: Path) -> None:
    path, campaign = tmp_path / "j.jsonl", campaign_of(range(3))
    found = run(campaign, processes(campaign, 1), path)
    assert run(campaign, campaign_options.on_dask(campaign, "tcp://127.0.0.1:1"), path) == found


# Commands ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record of small kernels, some with changed words, so that the report has differences."""
    recorded = Record.read(RECORD)
    outputs = {
        name: words ^ np.uint32(number % 3 == 0) for number, (name, words) in enumerate(recorded.outputs.items())
    }
    path = tmp_path_factory.mktemp("record") / "wrong.npz"
    Record(outputs, recorded.digests, {}).write(path)
    return path


def command(wrong: Path) -> list[str]:
    return ["compare", "kernels", "mbarrier", "--against", str(wrong), "--workers", "1"]


@pytest.fixture(scope="module")
def report(wrong: Path) -> str:
    """Output of the command without an interruption."""
    with redirect_stdout(StringIO()) as said:
        assert main(command(wrong)) == 1
    assert said.getvalue().count("\n") > 5
    return said.getvalue()


def killed(words: list[str], path: Path) -> bytes:
    """Kill a command at a random moment and return its checkpoint of fewer than 21 results."""
    for _ in range(5):
        begun = int.from_bytes(os.urandom(2)) % 12 + 1  # lines, with the header, after which it is killed
        with subprocess.Popen(
            [sys.executable, "-m", "warploom_lab", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as first:
            while first.poll() is None and not (path.is_file() and path.read_bytes().count(b"\n") >= begun):
                time.sleep(0.001)
            first.kill()
        before = path.read_bytes()
        if before.count(b"\n") < 22:
            assert first.returncode == -signal.SIGKILL
            return before
        path.unlink()  # the command ended before the kill
    raise AssertionError("the command always ended before the kill")


def test_a_killed_campaign_continues_from_its_checkpoint(
    report: str, wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "j.jsonl"
    words = [*command(wrong), "--checkpoint", str(path)]
    before = killed(words, path)
    assert main(words) == 1
    assert capsys.readouterr() == (report, "")
    assert path.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    tasks = [json.loads(line)["task"] for line in path.read_text().splitlines()[1:]]
    assert sorted(tasks) == list(range(21))


def test_dask_workers_give_the_same_report(
    report: str, wrong: Path, scheduler: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(wrong)[:-1], scheduler]) == 1
    said = capsys.readouterr()
    assert said.out == report
    assert "workers at" in said.err


def test_every_record_is_compared_by_dask_workers(
    scheduler: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The reports on partly wrong records are equal in this process and on workers."""
    taken = Sample.read(RECORD.parent / "h200.npz")
    wrong = {name: each ^ np.uint64(name.startswith("convert.half ")) for name, each in taken.digests.items()}
    Sample(taken.seed, wrong).write(tmp_path / "s.npz")
    copies = TensorSample.read(RECORD.parent / "tensor-h200.npz")
    TensorSample(copies.cases[:4], copies.verdicts[:4], [*copies.digests[:3], 1]).write(tmp_path / "t.npz")
    products = RECORD.parents[1] / "gemm" / "nvidia-h200-seed-1.json"
    for words, path, said in (
        (["convert.half", "convert.tf32"], tmp_path / "s.npz", "1 of 429 experiments differ"),
        (["tensor"], tmp_path / "t.npz", "1 of 4 cases differ"),
        (["gemm", "--every", "60"], products, "0 of 2 cases differ"),
    ):
        reports: list[str] = []
        for workers in ("1", scheduler):
            command = ["compare", *words, "--against", str(path), "--workers", workers]
            assert main([*command, "--checkpoint", str(tmp_path / f"{words[0]} {len(workers)}")]) == int(said[0])
            reports.append(capsys.readouterr().out)
        assert reports[0] == reports[1]
        assert said in reports[0]


def usual(**others: Any) -> argparse.Namespace:
    options = {
        "name": ["gemm"], "cases": 2, "every": 1, "seed": 1, "workers": 1,
        "against": None, "record": None, "bits": 1, "only": 71,
        "checkpoint": None, "differences": None, "target": "sm_90a", "sanitize": False, "no_emulator": False,
    }  # fmt: skip
    return argparse.Namespace(**{**options, **others})


@pytest.fixture
def single_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Executor that uses this process only; other tests cover isolated processes."""

    def here(campaign: Campaign[Any, Any], _count: int, **_: Any) -> Any:
        def execute(tasks: Sequence[Any], _progress: Progress) -> Iterator[Sequence[tuple[int, Any]]]:
            for at, task in enumerate(tasks):
                yield [(at, campaign.job(campaign.shared, task, None))]

        return execute

    monkeypatch.setattr(executors, "processes", here)


@pytest.mark.usefixtures("single_process")
@pytest.mark.parametrize(("verb", "count"), [(compare_tensor, 2), (compare_problems, 1)])
def test_the_device_is_local_and_the_emulator_runs_on_workers(
    verb: Any, count: int, scheduler: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The emulator stands in for the GPU."""
    said: list[str] = []
    for workers, name in ((1, "a"), (scheduler, "b")):
        options = usual(workers=workers, checkpoint=tmp_path / name)
        assert verb.run(options, "cpu") == 0
        said.append(capsys.readouterr().out)
        kept = [json.loads(line)["task"] for line in options.checkpoint.read_text().splitlines()[1:]]
        assert sorted(kept) == list(range(count))
    assert said[0] == said[1]


@pytest.mark.usefixtures("single_process")
def test_experiments_run_on_the_gpus_of_dask_workers(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The emulator stands in for the GPUs; its results for one instruction are changed."""
    real = Experiment.run
    odd = Selection(("convert.half",)).experiments()[1].instruction

    def stand_in(self: Experiment, arrays: Any, device: str, workers: int = 1) -> Any:
        found = real(self, arrays, "cpu", workers)
        return {name: array ^ (device == "cuda" and self.instruction == odd) for name, array in found.items()}

    monkeypatch.setattr(Experiment, "run", stand_in)
    monkeypatch.setattr(WorkerPool, "check_workers", lambda _: None)  # there is no GPU
    reports: list[str] = []
    for workers in ("1", scheduler):
        kept = tmp_path / f"{len(workers)}"
        words = ["compare", "convert.half", "--cases", "8", "--workers", workers, "--checkpoint", str(kept)]
        assert main(words) == 1
        reports.append(capsys.readouterr().out)
    assert reports[0] == reports[1]
    assert f"{odd} case 0" in reports[0]
    assert main([*words[:-1], str(tmp_path / "1")]) == 1  # the checkpoint is complete
    assert capsys.readouterr() == (reports[0], "")


def test_a_failure_of_the_first_experiment_ends_the_campaign(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def none(*_: Any) -> Any:
        raise UsageError("there is no GPU here", code="gpu.none")

    monkeypatch.setattr(Experiment, "run", none)
    path = tmp_path / "j.jsonl"
    assert main(["compare", "convert.half", "--workers", "1", "--checkpoint", str(path)]) == 2
    assert capsys.readouterr().err == "error[compare.gpu]: there is no GPU here\n"
    assert path.read_bytes().count(b"\n") == 1


@pytest.mark.usefixtures("single_process")
def test_a_different_product_on_a_worker_is_reported(
    scheduler: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Recorded, "difference", lambda *_: "a difference")
    assert compare_problems.run(usual(workers=scheduler), "cpu") == 1
    said = capsys.readouterr().out
    assert "a difference" in said
    assert "to run one case: warploom-lab compare gemm --seed 1 --only 71" in said


def test_dask_workers_judge_probes(scheduler: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Fake(assembler.Assembler):
        def judge(self, probes: Sequence[Any], target: str, version: Any) -> list[assembler.Verdict]:
            return [assembler.Verdict(probe.text == "ret;", target) for probe in probes]

    monkeypatch.setattr(cached, "provide", lambda _: Fake(Path("ptxas"), "13.1.115"))
    monkeypatch.setattr(cached, "cache_directory", lambda: tmp_path)
    at = cached.point("sm_90a", (9, 1))
    probes = [cached.Probe("ret;"), cached.Probe("ret 1;")]
    with evidence_legality._assemblers(argparse.Namespace(workers=scheduler)) as assemblers:
        found = assemblers.judge_all([(probe, at) for probe in probes])
    assert [verdict.ok for verdict in found] == [True, False]
    with pytest.raises(UsageError, match=r"is ptxas 13\.1\.115; expected 12\.9\.86"):
        cached.judge_chunk(None, Chunk("12.9.86", at, tuple(probes)), None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["compare", "mma", "--record", "x.npz", "--workers", "dask"],
            "--workers dask is not supported: a sample is recorded in this process, on its GPU",
        ),
        (
            ["compare", "kernels", "warp", "--checkpoint", "j"],
            "--checkpoint j is not supported: a comparison without --against runs in this process, on its GPU",
        ),
        (["compare", "mma", "--workers", "-1"], "--workers is -1; expected 0 or more"),
        (["evidence", "nvcc", "--workers", "0"], "--workers is 0; expected 1 or more"),
        (["evidence", "legality", "--workers", "0"], "--workers is 0; expected 1 or more"),
    ],
)
def test_unsupported_options_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.splitlines()[0].partition(": ")[2] == said


# Workers ----------------------------------------------------------------------------------------------------


def test_workers_are_a_number_or_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert [_workers.chosen(text) for text in ("0", "-3", "dask", "dask:4", "tcp://h:1")] == [
        0, -3, "dask", "dask:4", "tcp://h:1",
    ]  # fmt: skip
    with pytest.raises(SystemExit) as left:
        main(["compare", "mma", "--workers", "dusk"])
    assert left.value.code == 2
    assert (
        "argument --workers: workers is 'dusk'; expected a number of threads, 'dask', 'dask:N' for N workers on "
        "this host, or the address of a Dask scheduler, such as 'tcp://host:8786'"
        in " ".join(capsys.readouterr().err.split())
    )


def test_a_module_of_a_missing_package_is_reported() -> None:
    assert describe_worker(["nowhere.at_all", "json.decoder"], [])["extras"] == ["json.decoder"]


def test_the_table_lists_each_worker(capsys: pytest.CaptureFixture[str]) -> None:
    _workers.table(WorkReport())
    assert capsys.readouterr().err == ""
    ledger = WorkReport()
    first, second = ledger.worker("tcp://b"), ledger.worker("tcp://a")
    first.tasks, first.seconds, first.lost = 1200, 3.25, 1
    second.tasks, second.seconds = 3, 1.0
    _workers.table(ledger)
    rows = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert rows == [
        ["worker", "tasks", "seconds", "lost"],
        ["tcp://a", "3", "1.0", "0"],
        ["tcp://b", "1,200", "3.2", "1"],
        ["all", "1,203", "4.2", "1"],
    ]
