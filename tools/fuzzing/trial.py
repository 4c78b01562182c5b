"""One input through `parse` and `check`: what must hold, and what does not."""

from __future__ import annotations

import json
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import warploom as wl
from warploom.check import Report
from warploom.check.rules import rule_of
from warploom.ptx import PtxSyntaxError

LEAST_SECONDS = 1.0
SECONDS_PER_CHARACTER = 100e-6
_OFTEN, _SELDOM = 8, 64
_SOURCE = Path(wl.__file__).parent


class TooSlow(BaseException):
    """The time of an input is over. No `except Exception` holds it up."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong: `kind` is the same for inputs that break the same thing."""

    kind: str
    text: str
    detail: str = ""


def allowed(text: str) -> float:
    """Seconds of processor time that a text may take: linear in its size."""
    return LEAST_SECONDS + len(text) * SECONDS_PER_CHARACTER


def tried(text: str, number: int = 0) -> Fault | None:
    """The fault that a text brings to light, or None. Some properties are looked at for some numbers alone."""
    try:
        with _limited(allowed(text)):
            return _broken(text, number)
    except TooSlow:
        return Fault("slow", text, f"more than {allowed(text):.1f} s for {len(text)} characters")
    except MemoryError:
        return Fault("memory", text)
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is what is looked for
        return Fault(_kind(error), text, "".join(traceback.format_exception(error, limit=-6)))


def _broken(text: str, number: int) -> Fault | None:
    try:
        module = wl.parse(text)
    except PtxSyntaxError as refusal:
        if not refusal.diagnostics:
            return Fault("refused without a diagnostic", text)
        module = None
    if module is not None and str(module) != text:
        return Fault("printed otherwise", text)
    report = wl.check(text if module is None else module)
    if module is None and report.ok:
        return Fault("not read and found right", text)
    for found in report:
        if not found.message or rule_of(found.code) is None:
            return Fault(f"no page: {found.code}", text)
        if found.span is None or not 0 <= found.span.start <= found.span.end <= len(text):
            return Fault(f"no place: {found.code}", text)
    if number % _OFTEN == 0 and _shown(wl.check(text)) != _shown(report):
        return Fault("not the same twice", text)
    if number % _SELDOM == 0:
        json.loads(report.render("json"))
        json.loads(report.render("sarif"))
        report.render("text", color=True)
    return None


def _shown(report: Report) -> list[tuple[object, ...]]:
    return [(found.code, found.severity, found.message, found.span, found.hint) for found in report]


def _kind(error: BaseException) -> str:
    """The exception and the place in the library that it came from."""
    places = [
        f"{Path(frame.filename).relative_to(_SOURCE)}:{frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_SOURCE)
    ]
    where = places[-1] if places and not isinstance(error, RecursionError) else ""
    return f"{type(error).__name__} {where}".strip()


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Stop what takes more processor time than this."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def minimised(fault: Fault, seconds: float = 20.0) -> str:
    """A shorter text with the same fault: parts are left out, halves first, characters last."""
    end = time.monotonic() + seconds
    text = fault.text
    size = max(1, len(text) // 2)
    while size and time.monotonic() < end:
        at, shorter = 0, False
        while at < len(text) and time.monotonic() < end:
            candidate = text[:at] + text[at + size :]
            found = tried(candidate) if "\n" in candidate else None
            if found is not None and found.kind == fault.kind:
                text, shorter = candidate, True
            else:
                at += size
        if not shorter or size > 1:
            size //= 2
    return text
