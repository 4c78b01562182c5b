"""Times on a GPU: calls in graphs or between events, interleaved, with the clocks and the power they ran at.

times = measure(gpu, {"ours": [lambda s: launch(a, b, stream=s)], "theirs": [lambda s: torch.mm(a, b, out=c)]})
print(times["ours"].median, state(gpu))
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from warploom.diagnostics import UsageError
from warploom.gpu.device import Gpu
from warploom.gpu.driver import first_sentence
from warploom.gpu.packages import package

Call = Callable[[Any], object]

_WARM = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """What the repetitions of a list of calls took. Units: microseconds of one call."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return median(self.times)

    @property
    def spread(self) -> float:
        """The distance of the quartiles over the median: what a difference must pass to be one."""
        ordered = sorted(self.times)
        quarter = len(ordered) // 4
        return (ordered[-1 - quarter] - ordered[quarter]) / self.median


@dataclass(frozen=True, slots=True)
class State:
    """A GPU as it is now; None where it does not say. Units: MHz, W, degrees Celsius."""

    clock: int | None
    memory_clock: int | None
    power: float | None
    temperature: int | None

    def __str__(self) -> str:
        shown = (
            ("SM", self.clock, "MHz"),
            ("memory", self.memory_clock, "MHz"),
            ("power", None if self.power is None else round(self.power), "W"),
            ("temperature", self.temperature, "°C"),
        )
        return ", ".join(
            f"{name} {'unknown' if value is None else f'{value} {unit}'}" for name, value, unit in shown
        )


def measure(
    gpu: Gpu,
    calls: Mapping[str, Sequence[Call]],
    *,
    repetitions: int = 20,
    by: Literal["graph", "events"] = "graph",
    settle: float = 0.0,
    pause: float = 0.0,
) -> dict[str, Timing]:
    """Time lists of calls: each repetition runs every list once, one after another, so that all see the same clocks.

    A call is given the stream that it must work on; PyTorch and CuPy work on it meanwhile by themselves. What a
    list rotates through (buffers that together pass the cache, say) is its own business: all its calls are timed
    as one, and a Timing is of one of them. By "graph" a list is recorded once and replayed, so that what the host
    does for each call is not in it; by "events" the host makes the calls anew.

    Errors: UsageError gpu.timing for calls that cannot be recorded, or that are none; DeviceFault gpu.fault.
    """
    if repetitions < 1 or not calls or not all(calls.values()):
        raise UsageError(
            "there is nothing to time; expected calls, and a repetition or more", code="gpu.timing"
        )
    if by not in ("graph", "events"):
        raise UsageError(f"by is {by!r}; expected 'graph' or 'events'", code="gpu.timing")
    with _working_on(gpu) as stream:
        for (
            made
        ) in calls.values():  # all of them before any is recorded: what they need is there then, and stays
            for call in list(made) * _WARM:
                call(stream)
            gpu.wait(stream=stream)
        runs = {
            name: _recorded(stream, name, made) if by == "graph" else _repeated(stream, made)
            for name, made in calls.items()
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for name in calls:
            runs[name]()  # the first replay of a graph uploads it
        _settle(gpu, stream, list(runs.values()), settle)
        for _ in range(repetitions):
            for name, made in calls.items():
                if pause:
                    time.sleep(pause)
                times[name].append(_between_events(gpu, stream, runs[name]) / len(made))
    return {name: Timing(tuple(found)) for name, found in times.items()}


def state(gpu: Gpu) -> State:
    """Clocks, power and temperature of a GPU now, as its management library (NVML) says."""
    try:
        seen = gpu.device.to_system_device()
        fields = package("cuda.bindings.nvml").FieldId
    except Exception:  # noqa: BLE001 - a driver without NVML says nothing, in whatever words
        return State(None, None, None, None)
    power = _said(lambda: int(seen.get_field_values([fields.DEV_POWER_INSTANT])[0].value))
    return State(
        clock=_said(lambda: int(seen.get_clock("sm").get_current_mhz())),
        memory_clock=_said(lambda: int(seen.get_clock("memory").get_current_mhz())),
        power=None if power is None else power / 1000,
        temperature=_said(lambda: int(seen.temperature.get_sensor())),
    )


def driver_release() -> str:
    """The release of the kernel's driver, `580.159.04`; "" where it does not say."""
    try:
        *first, last = package("cuda.core.system").get_kernel_mode_driver_version()
    except Exception:  # noqa: BLE001 - as above
        return ""
    return ".".join((*map(str, first), f"{last:02}"))


def _said(ask: Callable[[], int]) -> int | None:
    try:
        return ask()
    except Exception:  # noqa: BLE001 - as above
        return None


@contextmanager
def _working_on(gpu: Gpu) -> Generator[Any]:
    """A stream of the GPU's own, which PyTorch and CuPy work on too where they are in use."""
    stream = gpu.own_stream
    handle = int(stream.handle)
    with ExitStack() as stack:
        if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
            stack.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(handle)))
        if (cupy := sys.modules.get("cupy")) is not None:
            adopt = getattr(cupy.cuda.Stream, "from_external", None)  # of CuPy 14 and later
            stack.enter_context(cupy.cuda.ExternalStream(handle) if adopt is None else adopt(stream))
        yield stream


def _settle(gpu: Gpu, stream: Any, runs: Sequence[Callable[[], object]], seconds: float) -> None:
    """Keep the GPU at work for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for run in runs:
            run()
        gpu.wait(stream=stream)


def _recorded(stream: Any, name: str, calls: Sequence[Call]) -> Callable[[], object]:
    recorder = stream.create_graph_builder()
    try:
        recorder.begin_building("relaxed")
        for call in calls:
            call(stream)
        graph = recorder.end_building().complete()
    except Exception as error:  # noqa: BLE001 - whatever a call does that a graph cannot hold
        recorder.close()
        raise UsageError(
            f"the calls of {name} cannot be recorded as a graph: {first_sentence(error)}",
            code="gpu.timing",
            hint="by='events' makes them anew each time",
        ) from None
    return lambda: graph.launch(stream)


def _repeated(stream: Any, calls: Sequence[Call]) -> Callable[[], object]:
    def run() -> None:
        for call in calls:
            call(stream)

    return run


def _between_events(gpu: Gpu, stream: Any, run: Callable[[], object]) -> float:
    """Microseconds from before a run to after it, on the GPU's clock."""
    timed = package("cuda.core").EventOptions(timing_enabled=True)
    before = stream.record(options=timed)
    run()
    after = stream.record(options=timed)
    gpu.wait(stream=stream)
    return 1000 * float(after - before)
