"""Names that the Python calls in `wrong_uses/*.toml` use."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
from emulator.texts import HEADER, kernel

import warploom as wl
from warploom.emulator.stats import Progress

__all__ = [
    "HEADER", "MAP", "NUMBER", "PLAIN", "SHARED", "SPIN", "TENSOR", "TWO", "Path", "interrupt", "kernel", "launch",
    "load", "np", "read_only", "wl", "words",
]  # fmt: skip

SHARED = ".shared .align 128 .b8 s[256];\nmov.u32 %r1, s;"
MAP = ".param .u64 out, .param .align 64 .b8 map[128]"
NUMBER = ".param .u64 out, .param .u32 n"
TENSOR = np.zeros((16, 16), np.uint16)
PLAIN = kernel("st.global.u32 [%rd1], %r0;\nret;")
TWO = kernel("ret;", ".param .u32 n") + ".visible .entry other() { ret; }\n"
SPIN = "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000000000;\n@%p1 bra L;"
"""Statements of a kernel that runs until it is stopped."""


def words(count: int = 32) -> np.ndarray[Any, Any]:
    return np.zeros(count, np.uint32)


def read_only() -> np.ndarray[Any, Any]:
    array = words()
    array.flags.writeable = False
    return array


def launch(body: str = "ret;", *args: object, **options: Any) -> wl.Run:
    """Launch a kernel. Its arguments are one array of 32 words unless there are others."""
    parts = {key: options.pop(key) for key in ("params", "directives", "before") if key in options}
    target = options.pop("target", "sm_90a")
    shape: dict[str, Any] = {"grid": 1, "block": 32, "args": args or [words()], **options}
    text = kernel(f"{body}\nret;" if body != "ret;" else body, **parts).replace("sm_90a", target)
    return wl.launch(text, **shape)


def load(ptx: Any, name: str | None = None) -> wl.Run:
    """Launch a kernel without arguments."""
    return wl.launch(ptx, name, grid=1, block=1, args=[])


def interrupt(now: Progress) -> None:
    """Interrupt a run that has begun."""
    if now.instructions:
        signal.raise_signal(signal.SIGINT)
