"""Traces of runs, as NumPy data (`Trace`) and as files for the trace viewer Perfetto."""

from warploom.observe.trace.chrome import Trace
from warploom.observe.trace.data import Cta, Kind
from warploom.observe.trace.recorder import EVENTS, Recorder

__all__ = ["EVENTS", "Cta", "Kind", "Recorder", "Trace"]
