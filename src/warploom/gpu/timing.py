"""Timing of calls on a GPU, with the clocks and the power of the GPU.

times = measure(gpu, {"ours": [lambda s: launch(a, b, stream=s)], "theirs": [lambda s: torch.mm(a, b, out=c)]})
print(times["ours"].median, state(gpu))
"""

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any, Literal

from warploom.diagnostics import UsageError
from warploom.gpu.device import Gpu
from warploom.gpu.driver import first_sentence, package

Call = Callable[[Any], object]

_WARM = 2


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of a list of calls, one for each repetition. Units: microseconds per call."""

    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the times."""
        return median(self.times)

    @property
    def spread(self) -> float:
        """Interquartile range divided by the median. Smaller differences are noise."""
        ordered = sorted(self.times)
        quarter = len(ordered) // 4
        return (ordered[-1 - quarter] - ordered[quarter]) / self.median


@dataclass(frozen=True, slots=True)
class State:
    """Clocks, power and temperature of a GPU. Unknown values are None. Units: MHz, W, degrees Celsius."""

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
        return ", ".join(f"{name} {'unknown' if value is None else f'{value} {unit}'}" for name, value, unit in shown)


def measure(
    gpu: Gpu,
    calls: Mapping[str, Sequence[Call]],
    *,
    repetitions: int = 20,
    by: Literal["graph", "events"] = "graph",
    warm_up: float = 0.0,
    pause: float = 0.0,
) -> dict[str, Timing]:
    """Time named lists of calls, and return a Timing for each name.

    Each repetition runs every list once, in turn. A call takes a stream, which is also the current stream of PyTorch
    and CuPy during the measurement. The Timing of a list has the time per call. With `by="graph"`, each list is
    recorded once and replayed, which excludes host time. With `by="events"`, the host makes the calls in each
    repetition.

    Units: `warm_up` seconds of work before the first repetition, `pause` seconds of rest before each repetition.
    Errors: UsageError gpu.timing without calls, or for calls that cannot be recorded; DeviceFault gpu.fault.
    """
    if repetitions < 1 or not calls or not all(calls.values()):
        raise UsageError("nothing to time; expected calls and at least one repetition", code="gpu.timing")
    if by not in ("graph", "events"):
        raise UsageError(f"by is {by!r}; expected 'graph' or 'events'", code="gpu.timing")
    with _current_stream(gpu) as stream:
        for made in calls.values():  # the first calls allocate; they must precede every recording
            _call_all(stream, list(made) * _WARM)
            gpu.wait(stream=stream)
        runs = {
            name: _recorded(stream, name, made) if by == "graph" else partial(_call_all, stream, made)
            for name, made in calls.items()
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for name in calls:
            runs[name]()  # the first replay of a graph uploads it
        end = time.monotonic() + warm_up
        while time.monotonic() < end:
            for run in runs.values():
                run()
            gpu.wait(stream=stream)
        for _ in range(repetitions):
            # All lists run at the same clocks.
            for name, made in calls.items():
                if pause:
                    time.sleep(pause)
                times[name].append(_between_events(gpu, stream, runs[name]) / len(made))
    return {name: Timing(tuple(found)) for name, found in times.items()}


def state(gpu: Gpu) -> State:
    """Read the clocks, power and temperature of a GPU."""
    try:
        seen = gpu.device.to_system_device()
        fields = package("cuda.bindings.nvml").FieldId
    except Exception:  # noqa: BLE001 - drivers without NVML raise various types
        return State(None, None, None, None)
    power = _value(lambda: int(seen.get_field_values([fields.DEV_POWER_INSTANT])[0].value))
    return State(
        clock=_value(lambda: int(seen.get_clock("sm").get_current_mhz())),
        memory_clock=_value(lambda: int(seen.get_clock("memory").get_current_mhz())),
        power=None if power is None else power / 1000,
        temperature=_value(lambda: int(seen.temperature.get_sensor())),
    )


def driver_release() -> str:
    """Return the release of the kernel-mode driver, such as `580.159.04`, or ""."""
    try:
        *first, last = package("cuda.core.system").get_kernel_mode_driver_version()
    except Exception:  # noqa: BLE001 - as above
        return ""
    return ".".join((*map(str, first), f"{last:02}"))


def _value(read: Callable[[], int]) -> int | None:
    try:
        return read()
    except Exception:  # noqa: BLE001 - as above
        return None


@contextmanager
def _current_stream(gpu: Gpu) -> Generator[Any]:
    """Make the GPU's own stream the current stream of PyTorch and CuPy, and yield the stream."""
    stream = gpu.own_stream
    handle = int(stream.handle)
    with ExitStack() as stack:
        if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
            stack.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(handle)))
        if (cupy := sys.modules.get("cupy")) is not None:
            adopt = getattr(cupy.cuda.Stream, "from_external", None)  # of CuPy 14 and later
            stack.enter_context(cupy.cuda.ExternalStream(handle) if adopt is None else adopt(stream))
        yield stream


def _recorded(stream: Any, name: str, calls: Sequence[Call]) -> Callable[[], object]:
    recorder = stream.create_graph_builder()
    try:
        recorder.begin_building("relaxed")
        _call_all(stream, calls)
        graph = recorder.end_building().complete()
    except Exception as error:  # noqa: BLE001 - calls raise various types
        recorder.close()
        raise UsageError(
            f"the calls of {name} cannot be recorded as a graph: {first_sentence(error)}",
            code="gpu.timing",
            hint="by='events' makes the calls in each repetition",
        ) from None
    return lambda: graph.launch(stream)


def _call_all(stream: Any, calls: Sequence[Call]) -> None:
    for call in calls:
        call(stream)


def _between_events(gpu: Gpu, stream: Any, run: Callable[[], object]) -> float:
    """Return the GPU time of the work that `run` submits. Units: microseconds."""
    timed = package("cuda.core").EventOptions(timing_enabled=True)
    before = stream.record(options=timed)
    run()
    after = stream.record(options=timed)
    gpu.wait(stream=stream)
    return 1000 * float(after - before)
