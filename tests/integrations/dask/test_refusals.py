"""Workers that would do something else than this process, or cannot do the work, are refused in one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from emulator.texts import kernel

import warploom as wl
from warploom.integrations.dask import compatibility, worker_pool
from warploom.integrations.dask.compatibility import Requirements
from warploom.integrations.dask.tasks import run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool

SOURCE = Path(wl.__file__).parent
WITHOUT = """
import sys
class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "warploom":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuses())
"""


@contextmanager
def worker_of(folder: Path) -> Iterator[str]:
    """The address of a scheduler with one worker, a process that looks for modules in a folder first."""
    with distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as cluster:
        address = cluster.scheduler_address
        paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dask",
                "worker",
                address,
                "--no-nanny",
                "--nthreads",
                "1",
                "--name",
                "odd",
            ],
            env={**os.environ, "PYTHONPATH": paths},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield address
        finally:
            worker.kill()
            worker.wait()


def said(address: str, needs: Requirements | None = None) -> str:
    """What a crew is refused with, and what is advised."""
    with pytest.raises(wl.UsageError) as refused, WorkerPool(address, needs):
        pass
    (found,) = refused.value.diagnostics
    return f"{found.message}; {found.hint}"


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "warploom", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "warploom" / "release.py").open("a") as file:
        file.write("\n# another checkout\n")
    with worker_of(tmp_path) as address:
        words = said(address)
        assert "the worker odd on " in words
        assert f"; expected {compatibility.source_version()}, as here" in words
        assert "\n" not in words
        out = np.zeros(32, np.uint32)
        with pytest.raises(wl.UsageError, match="as here"):
            wl.launch(kernel("st.global.u32 [%rd1], %r0;"), grid=1, block=32, args=[out], workers=address)
    assert not out.any()


def test_a_worker_without_the_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    with worker_of(tmp_path) as address:
        assert "the worker odd has no warploom" in said(address)


def test_a_worker_without_an_extra_or_a_file_is_refused(scheduler: str, tmp_path: Path) -> None:
    assert "has no antigravity_engine" in said(scheduler, Requirements({"antigravity_engine": "gpu"}))
    assert "pip install 'warploom[gpu]' there" in said(scheduler, Requirements({"antigravity_engine": "gpu"}))
    tool = tmp_path / "tool"
    tool.write_text("one")
    files = compatibility.file_digests([tool])
    with WorkerPool(scheduler, Requirements(files=files)):
        pass
    tool.write_text("another")
    assert f"has another file {tool} than there is here" in said(scheduler, Requirements(files=files))
    tool.unlink()
    assert f"has no file {tool}" in said(scheduler, Requirements(files=files))
    with pytest.raises(wl.UsageError, match="there is no file"):
        compatibility.file_digests([tool])


def test_a_launch_that_does_not_fit_is_refused_before_it_begins(scheduler: str) -> None:
    with WorkerPool(scheduler) as workers:
        limits = [int(worker["memory_limit"]) for worker in workers.workers().values()]
    assert "of memory; this work takes" in said(scheduler, Requirements(memory=2 * max(limits)))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"python": "3.2.1"}, "runs Python 3.2.1; expected"),
        ({"version": "0.0.1 (0123)"}, "has warploom 0.0.1 (0123); expected"),
    ],
)
def test_what_a_worker_says_of_itself(answer: dict[str, Any], words: str) -> None:
    mine = compatibility.describe_worker((), ())
    assert compatibility.incompatibility("w", mine, Requirements(), 0) == ("", "")
    assert words in compatibility.incompatibility("w", {**mine, **answer}, Requirements(), 0)[0]


def full(shared: Any, task: Any, tell: Any) -> None:
    """A job whose disk is full."""
    raise OSError(28, "No space left on device")


def greedy(shared: Any, task: Any, tell: Any) -> None:
    """A job that takes too much memory."""
    raise MemoryError


@pytest.mark.parametrize(
    ("job", "words"),
    [(full, "could not do task 0: [Errno 28] No space left"), (greedy, "has not the memory for task 0")],
)
def test_what_a_machine_lacks_is_said(job: Any, words: str, scheduler: str) -> None:
    with WorkerPool(scheduler) as workers, pytest.raises(wl.UsageError) as refused:
        list(run_tasks(workers, job, None, [0]))
    assert words in str(refused.value)


@pytest.mark.parametrize("workers", ["dusk", "dask:0", "dask:-1", "dask:x", "", "tcp://", "a b:1"])
def test_names_of_workers_that_mean_nothing_are_refused(workers: str) -> None:
    with pytest.raises(wl.UsageError, match="expected a number of threads, 'dask', 'dask:N'"):
        WorkerPool(workers)


def test_a_scheduler_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "ANSWER", 0.5)
    assert "there is no scheduler with workers at tcp://127.0.0.1:1" in said("tcp://127.0.0.1:1")


@pytest.mark.parametrize("options", [{"trace": True}, {"profile": True}], ids=str)
def test_what_is_taken_on_one_machine_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(wl.UsageError, match="is taken on one machine"):
        wl.launch(kernel("ret;"), grid=1, block=32, args=[np.zeros(1, np.int32)], workers="dask", **options)
