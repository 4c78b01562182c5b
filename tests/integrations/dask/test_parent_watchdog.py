"""What is started here ends with its parent."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from warploom.integrations.dask import parent_watchdog, worker_pool

CHILD = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("parent_watchdog", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.dask_setup(None)
print("watching", flush=True)
time.sleep(60)
"""
PARENT = """
import os, subprocess, sys
os.environ[sys.argv[3]] = str(os.getpid())
subprocess.run([sys.executable, "-c", sys.argv[1], sys.argv[2]])
"""


def test_a_child_ends_with_a_parent_that_is_killed() -> None:
    words = [sys.executable, "-c", PARENT, CHILD, parent_watchdog.__file__, parent_watchdog.PARENT]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"watching\n"
        parent.send_signal(signal.SIGKILL)
        assert parent.stdout.read() == b""  # which ends when the child, that has it too, has ended


def test_it_needs_nothing_of_this_package() -> None:
    assert "import warploom" not in Path(parent_watchdog.__file__).read_text()
    assert "from warploom" not in Path(parent_watchdog.__file__).read_text()


def test_schedulers_and_nannies_of_this_process_are_told() -> None:
    from dask import config

    told = config.collect_env(worker_pool._ours())
    assert told["distributed"]["scheduler"]["preload"] == [parent_watchdog.__file__]
    assert told["distributed"]["nanny"]["preload"] == [parent_watchdog.__file__]
