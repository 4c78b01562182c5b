"""Inputs of a launch that are kept, so that the launch can run again and explain its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.runtime import cpu

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress
    from warploom.gpu.geometry import Geometry
    from warploom.runtime.arguments import Arguments
    from warploom.runtime.kernel import LoadedKernel
    from warploom.runtime.why import Expectation, Why

Array = NDArray[Any]


_ELEMENT = re.compile(r"(\w+)\s*\[([\d,\s]+)\]")


def read_element(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the array and the index that a text such as "c[5, 7]" names. Errors: ValueError."""
    found = _ELEMENT.fullmatch(text.strip())
    if found is None:
        raise ValueError("expected an element such as c[5, 7]")
    return found[1], tuple(int(part) for part in found[2].split(",") if part.strip())


class Replay:
    """Launch that can run again with the contents that its buffers had before the launch."""

    def __init__(
        self, kernel: LoadedKernel, geometry: Geometry, arguments: Arguments, arch: str | None, schedule: str,
        step_budget: int | None = None, *, names: Mapping[str, Array] | None = None,
        inputs: Sequence[NDArray[np.uint8]] = (), expectation: Expectation | None = None,
    ) -> None:  # fmt: skip
        """Keep what is needed to run a launch again.

        `names` has the arrays by name; the default names are those of the parameters. `inputs` has the contents of the
        buffers before the launch; by default, the arrays have them.
        """
        self._kernel, self._geometry, self._arguments = kernel, geometry, arguments
        self._arch, self._schedule, self._step_budget = arch, schedule, step_budget
        self._inputs = list(inputs)
        self._expectation = expectation
        buffers = arguments.buffers
        self._names = (
            {name: array for name, array in names.items() if buffers.contains(array)}
            if names
            else {_short_name(name, kernel.signature.name): array for name, array in buffers.members()}
        )

    def drop(self) -> None:
        """Forget the contents of the buffers. Later calls of `why` are refused."""
        self._inputs = []
        self._names = {}

    def prepare(self, schedule: str | None = None) -> cpu.EmulatorLaunch:
        """Return the launch with the contents of its buffers before the first run.

        Errors: UsageError run.replay if the contents have been dropped.
        """
        if not self._names:
            raise UsageError(
                "this run cannot be repeated: its inputs are no longer kept", code="run.replay",
                hint="pass keep=True to wl.launch",
            )  # fmt: skip
        launch = cpu.prepare(
            self._kernel, self._geometry, self._arguments, self._arch, schedule or self._schedule, self._step_budget
        )
        for segment, contents in zip(launch.arena.segments, self._inputs, strict=False):
            launch.arena.view(segment)[:] = contents
        return launch

    def why(
        self, array: Any, index: int | tuple[int, ...], expect: object = None, schedule: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Why:  # fmt: skip
        """Explain an element of an array: the launch runs again, and its executions are followed back.

        `Run.why` describes the other parameters. `progress` is called repeatedly with the progress of each run.

        Errors: UsageError run.replay, why.array, why.index, why.expect.
        """
        from warploom.runtime.why import Question, explain  # imported on use, which shortens the start of a launch

        when = schedule or self._schedule
        question = Question(self.prepare, self._names, self._arguments.buffers, self._kernel.signature, when, progress)
        return explain(question, array, index, self._expectation if expect is None else expect)


def _short_name(name: str, kernel: str) -> str:
    """Return the name of a parameter in the name of a buffer, without the name of the kernel before it."""
    return re.sub(r"^.*\((.*)\)$", r"\1", name).removeprefix(f"{kernel}_")


_latest: list[Replay] = []
"""Replay of the latest launch, unless the launch asked to keep it."""


def keep_replay(
    kernel: LoadedKernel, geometry: Geometry, arguments: Arguments, launch: cpu.EmulatorLaunch, arch: str | None,
    schedule: str, step_budget: int | None, *, always: bool,
) -> Replay:  # fmt: skip
    """Keep the inputs of a launch that has run. A later launch drops them, unless `always` is True.

    Call it before the results are copied to the arrays in host memory.
    """
    for earlier in _latest:
        earlier.drop()
    _latest.clear()
    inputs = arguments.buffers.inputs(launch.arena)
    found = Replay(kernel, geometry, arguments, arch, schedule, step_budget, inputs=inputs)
    if not always:
        _latest.append(found)
    return found
