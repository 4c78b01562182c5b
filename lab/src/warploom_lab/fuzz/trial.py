"""Properties of `parse` and `check` that must hold for every input."""

import json
import signal
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import warploom as wl
from warploom.check import Report
from warploom.check.rules import rule_of
from warploom.ptx import PtxSyntaxError

MINIMUM_SECONDS = 1.0
SECONDS_PER_CHARACTER = 100e-6
_REPEAT_EVERY, _RENDER_EVERY = 8, 64  # inputs for which the slower properties are tested
_SOURCE = Path(wl.__file__).parent


class TooSlow(BaseException):
    """Exception for an input that exceeds its time limit.

    `except Exception` does not catch this exception.
    """


@dataclass(frozen=True, slots=True)
class Fault:
    """Property that an input violates. Faults with the same cause have the same `kind`."""

    kind: str
    text: str
    detail: str = ""


def time_limit(text: str) -> float:
    """Return the processor time that `parse` and `check` may need for a text, in seconds."""
    return MINIMUM_SECONDS + len(text) * SECONDS_PER_CHARACTER


def find_fault(text: str, number: int = 0) -> Fault | None:
    """Return the property that a text violates, or None.

    Slow properties are tested only for some values of `number`, the number of the input.
    """
    try:
        with _limited(time_limit(text)):
            return _violation(text, number)
    except TooSlow:
        return Fault("slow", text, f"parse or check took over {time_limit(text):.1f} s for {len(text)} characters")
    except MemoryError:
        return Fault("memory", text)
    except Exception as error:  # noqa: BLE001 -- every exception is a fault
        return Fault(_kind(error), text, "".join(traceback.format_exception(error, limit=-6)))


def _violation(text: str, number: int) -> Fault | None:
    try:
        module = wl.parse(text)
    except PtxSyntaxError as refusal:
        if not refusal.diagnostics:
            return Fault("refused without a diagnostic", text)
        module = None
    if module is not None and str(module) != text:
        return Fault("changed by a round trip", text)
    report = wl.check(text if module is None else module)
    if module is None and report.ok:
        return Fault("unreadable but accepted", text)
    for found in report:
        if not found.message or rule_of(found.code) is None:
            return Fault(f"no page: {found.code}", text)
        if found.span is None or not 0 <= found.span.start <= found.span.end <= len(text):
            return Fault(f"no span: {found.code}", text)
    if number % _REPEAT_EVERY == 0 and _shown(wl.check(text)) != _shown(report):
        return Fault("not reproducible", text)
    if number % _RENDER_EVERY == 0:
        json.loads(report.render("json"))
        json.loads(report.render("sarif"))
        report.render("text", color=True)
    return None


def _shown(report: Report) -> list[tuple[object, ...]]:
    return [(found.code, found.severity, found.message, found.span, found.hint) for found in report]


def _kind(error: BaseException) -> str:
    """Return a key for similar errors: the name of the exception, and the place that raised it."""
    places = [
        f"{Path(frame.filename).relative_to(_SOURCE)}:{frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_SOURCE)
    ]
    where = places[-1] if places and not isinstance(error, RecursionError) else ""
    return f"{type(error).__name__} {where}".strip()


@contextmanager
def _limited(seconds: float) -> Generator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def minimize(fault: Fault, seconds: float = 20.0) -> str:
    """Return a shorter text with a fault of the same kind.

    The search ends after `seconds` seconds.
    """
    end = time.monotonic() + seconds
    text = fault.text
    size = max(1, len(text) // 2)
    while size and time.monotonic() < end:
        at, shorter = 0, False
        while at < len(text) and time.monotonic() < end:
            candidate = text[:at] + text[at + size :]
            found = find_fault(candidate) if "\n" in candidate else None
            if found is not None and found.kind == fault.kind:
                text, shorter = candidate, True
            else:
                at += size
        if not shorter or size > 1:
            size //= 2
    return text
