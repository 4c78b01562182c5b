"""The watchdog that ends a local cluster with the process that started it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from warploom.integrations.dask import local_cluster, parent_watchdog

CHILD = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("watchdog", sys.argv[1])
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
        assert parent.stdout.read() == b""  # the child holds the other end of the pipe until it ends


def test_the_watchdog_does_not_import_the_package() -> None:
    assert "import warploom" not in Path(parent_watchdog.__file__).read_text()
    assert "from warploom" not in Path(parent_watchdog.__file__).read_text()


def test_schedulers_and_nannies_preload_the_watchdog() -> None:
    from dask import config

    settings = config.collect_env(local_cluster._SETTINGS)
    assert settings["distributed"]["scheduler"]["preload"] == [parent_watchdog.__file__]
    assert settings["distributed"]["nanny"]["preload"] == [parent_watchdog.__file__]
