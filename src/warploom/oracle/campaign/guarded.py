"""Kernels in a process of their own, so that one that hangs or breaks off a GPU ends nothing but itself."""

from __future__ import annotations

from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from warploom.diag import WarploomError
from warploom.oracle.campaign.small import SmallKernel, Words

TIMEOUT = 60.0
"""Seconds that a kernel may take, its assembler and the process's start included."""


class Guarded:
    """Runs kernels one after another, in a process that is replaced when a kernel fails in it.

    Units: `timeout` in seconds.
    """

    def __init__(self, device: str, timeout: float = TIMEOUT) -> None:
        self.device = device
        self.timeout = timeout
        self._process: Any = None
        self._line: Connection | None = None

    def __enter__(self) -> Guarded:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def __call__(self, kernel: SmallKernel) -> Words | str:
        """Its output, or why there is none."""
        line = self._line or self._start()
        line.send(kernel)
        try:
            found = line.recv() if line.poll(self.timeout) else f"no answer within {self.timeout:g} s"
        except EOFError:
            found = "the process that ran it died"
        if isinstance(found, str):
            self._end()  # a GPU that broke off a kernel takes no more of this process
        return found

    def _start(self) -> Connection:
        context = get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, self.device), daemon=True)
        self._process.start()
        there.close()
        self._line = here
        return here

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None


def _serve(line: Connection, device: str) -> None:
    """Run what comes along the line until it closes."""
    while True:
        try:
            kernel = line.recv()
        except EOFError:
            return
        try:
            line.send(kernel.run(device))
        except WarploomError as error:
            line.send(f"{error}")
