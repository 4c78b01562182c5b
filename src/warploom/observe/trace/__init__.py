"""Traces of runs, as NumPy data (`Trace`) and as files for the trace viewer Perfetto."""

from __future__ import annotations

from warploom.observe.trace.data import Cta, Kind
from warploom.observe.trace.recorder import EVENTS, Recorder
from warploom.observe.trace.trace import Trace

__all__ = ["EVENTS", "Cta", "Kind", "Recorder", "Trace"]
