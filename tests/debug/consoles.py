"""Consoles of the debugger in a pseudo-terminal, and the launches in which the examples of its commands run."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from warploom.view.debugger.api import Debugger, debug
from warploom.view.debugger.command import TABLE

SCENARIOS = Path(__file__).parent / "scenarios"
GEMM = SCENARIOS / "hopper_gemm.toml"
PROMPT = "(wl) "
TIMEOUT = 60  # seconds until a console counts as hanging

# A device function, and tensor memory.
CALLS = """\
.version 8.7
.target sm_100a
.address_size 64

.func (.reg .b32 %out) twice(.reg .b32 %in)
{
    add.u32 %out, %in, %in;
    ret;
}

.visible .entry calls()
{
    .reg .b32 %r<4>;
    .shared .align 4 .b32 slot;
    mov.u32 %r0, slot;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;
    mov.u32 %r1, %tid.x;
    call (%r2), twice, (%r1);
    ld.shared.u32 %r3, [slot];
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
    ret;
}
"""
IN_CALLS = ("tensor", "finish")
"""Commands whose examples run in `CALLS`, one after the other. The others run in `GEMM`."""
LAST = ("delete", "quit")
SETUPS = {GEMM.name: ("break kind multiply", "continue"), "calls.ptx": ("until twice",)}
"""Commands before an example, by the name of the file."""


def order_of_examples() -> list[str]:
    """Return the names of the commands of `GEMM` in an order in which the examples can follow each other."""
    groups = ("values", "warps", "help", "breakpoints", "running")
    names = [name for group in groups for name, each in TABLE.items() if each.group == group and name not in LAST]
    assert {*names, *LAST} == {*TABLE}
    return [name for name in (*names, *LAST) if name not in IN_CALLS]


def debugger_for(name: str) -> Debugger:
    """Return a debugger in which the example of a command can run."""
    if name in IN_CALLS:
        found, lines = debug(CALLS, grid=1, block=32, args=[]), SETUPS["calls.ptx"]
    else:
        found, lines = debug(GEMM, schedule="lazy"), SETUPS[GEMM.name]
    for line in lines:
        found(line)
    return found


class Console:
    """Console of `warploom debug` in a pseudo-terminal."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self.terminal, self.process = terminal, process

    def read(self, end: str = PROMPT) -> str:
        """Return what the console prints up to a text at the end, without control sequences."""
        printed, limit = b"", time.monotonic() + TIMEOUT
        while not (text := _plain(printed)).endswith(end):
            if not select.select([self.terminal], [], [], limit - time.monotonic())[0]:
                raise TimeoutError(text)
            try:
                printed += os.read(self.terminal, 1 << 16)
            except OSError:  # the process has ended
                break
        return text.removesuffix(end)

    def write(self, text: str) -> None:
        """Type a text."""
        os.write(self.terminal, text.encode())

    def run(self, line: str) -> str:
        """Run a command, and return what it prints."""
        self.write(f"{line}\n")
        return self.read().partition("\n")[2]

    def interrupt(self) -> None:
        """Send the signal of Ctrl-C."""
        self.process.send_signal(signal.SIGINT)


def _plain(printed: bytes) -> str:
    return re.sub(r"\x1b\[[?\d;]*[a-zA-Z]|\r", "", printed.decode(errors="replace"))


@contextmanager
def console(arguments: Sequence[str], folder: Path) -> Iterator[Console]:
    """Start `warploom debug` with some arguments in a pseudo-terminal, and wait for its end."""
    controller, terminal = pty.openpty()
    environment = os.environ | {"TERM": "dumb", "WARPLOOM_CACHE": os.environ.get("WARPLOOM_CACHE", str(folder))}
    process = subprocess.Popen(
        [sys.executable, "-m", "warploom", "debug", *arguments],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    try:
        yield Console(controller, process)
    finally:
        process.kill()
        process.wait()
        os.close(controller)
