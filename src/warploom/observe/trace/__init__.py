"""Traces: what happened when in a run, as data (`Trace`) and as a file for Perfetto."""

from __future__ import annotations

from warploom.observe.trace.data import Cta, Kind, Trace
from warploom.observe.trace.recorder import EVENTS, Recorder

__all__ = ["EVENTS", "Cta", "Kind", "Recorder", "Trace"]
