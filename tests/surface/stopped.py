"""Command `warploom` that receives signals while a kernel runs: `python stopped.py SIGINT,SIGTERM run k.ptx …`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from warploom.cli import main
from warploom.emulator.stats import Progress


@contextmanager
def signalling(_: str) -> Iterator[Callable[[Progress], None]]:
    """Yield a progress callback that sends the signals to this process, each while the previous one ends the run."""
    yield lambda now: send(sys.argv[1].split(",")) if now.instructions else None


def send(names: list[str]) -> None:
    """Send the signals `names` to this process."""
    try:
        signal.raise_signal(signal.Signals[names[0]])
    finally:
        if names[1:]:
            send(names[1:])


if __name__ == "__main__":
    os.environ["WARPLOOM_STEP_BUDGET"] = str(10**9)  # so that the first signal comes before the end of the run
    with patch("warploom.cli.run.launch_progress", signalling):
        sys.exit(main(sys.argv[2:]))
