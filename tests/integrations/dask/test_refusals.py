"""Refusals, in one sentence, of workers that would return other results or cannot do the work."""

from __future__ import annotations

import os
import re
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
NO_PACKAGE = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "warploom":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Finder())
"""


@contextmanager
def worker_of(folder: Path) -> Iterator[str]:
    """Yield the address of a scheduler whose one worker process searches a folder first for modules."""
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


def refusal(address: str, requirements: Requirements | None = None) -> str:
    """Return the message and the hint with which a pool is refused."""
    with pytest.raises(wl.UsageError) as refused, WorkerPool(address, requirements):
        pass
    (found,) = refused.value.diagnostics
    return f"{found.message}; {found.hint}"


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "warploom", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "warploom" / "release.py").open("a") as file:
        file.write("\n# another checkout\n")
    with worker_of(tmp_path) as address:
        message = refusal(address)
        assert "the worker odd on " in message
        assert f"; expected {compatibility.source_version()}" in message
        assert "\n" not in message
        out = np.zeros(32, np.uint32)
        with pytest.raises(wl.UsageError, match="expected"):
            wl.launch(kernel("st.global.u32 [%rd1], %r0;"), grid=1, block=32, args=[out], workers=address)
    assert not out.any()


def test_a_worker_without_the_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_PACKAGE)
    with worker_of(tmp_path) as address:
        assert "the worker odd has no warploom" in refusal(address)


def test_a_worker_without_an_extra_or_a_file_is_refused(scheduler: str, tmp_path: Path) -> None:
    assert "has no antigravity_engine" in refusal(scheduler, Requirements({"antigravity_engine": "gpu"}))
    assert "pip install 'warploom[gpu]' there" in refusal(
        scheduler, Requirements({"antigravity_engine": "gpu"})
    )
    tool = tmp_path / "tool"
    tool.write_text("one")
    files = compatibility.file_digests([tool])
    with WorkerPool(scheduler, Requirements(files=files)):
        pass
    tool.write_text("another")
    assert f"has another file {tool} than this host" in refusal(scheduler, Requirements(files=files))
    tool.unlink()
    assert f"has no file {tool}" in refusal(scheduler, Requirements(files=files))
    with pytest.raises(wl.UsageError, match="there is no file"):
        compatibility.file_digests([tool])


def test_a_launch_above_the_memory_limit_is_refused_before_it_begins(scheduler: str) -> None:
    with WorkerPool(scheduler) as workers:
        limits = [int(worker["memory_limit"]) for worker in workers.workers().values()]
    assert "of memory; the work needs" in refusal(scheduler, Requirements(memory=2 * max(limits)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"python": "3.2.1"}, "runs Python 3.2.1; expected"),
        ({"version": "0.0.1 (0123)"}, "has warploom 0.0.1 (0123); expected"),
    ],
)
def test_an_incompatible_description_is_refused(answer: dict[str, Any], message: str) -> None:
    mine = compatibility.describe_worker((), ())
    compatibility.require_compatible("w", mine)
    with pytest.raises(wl.UsageError, match=re.escape(message)):
        compatibility.require_compatible("w", {**mine, **answer})


def fill_disk(shared: Any, task: Any, progress: Any) -> None:
    """Fail as a task does on a full disk."""
    raise OSError(28, "No space left on device")


def exhaust_memory(shared: Any, task: Any, progress: Any) -> None:
    """Fail as a task does without memory."""
    raise MemoryError


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (fill_disk, "failed in task 0: [Errno 28] No space left"),
        (exhaust_memory, "ran out of memory in task 0"),
    ],
)
def test_a_lack_of_space_is_reported(function: Any, message: str, scheduler: str) -> None:
    with WorkerPool(scheduler) as workers, pytest.raises(wl.UsageError) as refused:
        list(run_tasks(workers, function, None, [0]))
    assert message in str(refused.value)


@pytest.mark.parametrize("workers", ["dusk", "dask:0", "dask:-1", "dask:x", "", "tcp://", "a b:1"])
def test_invalid_names_of_workers_are_refused(workers: str) -> None:
    with pytest.raises(wl.UsageError, match="expected a number of threads, 'dask', 'dask:N'"):
        WorkerPool(workers)


def test_a_missing_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "ANSWER_TIMEOUT", 0.5)
    assert "there is no scheduler with workers at tcp://127.0.0.1:1" in refusal("tcp://127.0.0.1:1")


@pytest.mark.parametrize("options", [{"trace": True}, {"profile": True}], ids=str)
def test_options_for_one_process_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(wl.UsageError, match="is taken on one machine"):
        wl.launch(kernel("ret;"), grid=1, block=32, args=[np.zeros(1, np.int32)], workers="dask", **options)
