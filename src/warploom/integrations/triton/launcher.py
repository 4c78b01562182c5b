"""A launch of Triton's as a launch on the abstract machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import prod
from typing import Any, cast

import ml_dtypes
import numpy as np

from warploom.check import check
from warploom.diagnostics import Diagnostic, Severity, UsageError, WarploomError, render
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.program import Program
from warploom.integrations.triton.descriptors import decomposed, tensor_map
from warploom.integrations.triton.packages import triton
from warploom.integrations.triton.places import retold
from warploom.integrations.triton.settings import Settings
from warploom.integrations.triton.tensors import Array, memory
from warploom.observe.trace import Trace
from warploom.runtime.api import Stats, launch

_HALVES = {"fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
_SCRATCH = ("Triton's global scratch", "Triton's profile scratch")


class Found(WarploomError):
    """A strict launch had findings; they are its diagnostics, and its message shows them with their lines."""

    def __str__(self) -> str:
        return render(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Launched:
    """What one launch of a kernel was and did.

    `findings` are the checker's, if the launch was to be checked, and the sanitizer's, in that order. `grid`
    counts CTAs, so that a cluster of two counts twice.

    Units: `block` in threads, `shared` in bytes.
    """

    name: str
    grid: tuple[int, int, int]
    block: int
    cluster: int
    shared: int
    schedule: str
    ptx: str = field(repr=False)
    findings: tuple[Diagnostic, ...] = ()
    stats: Stats = field(default_factory=Stats, repr=False)
    trace: Trace | None = field(default=None, repr=False)

    def report(self) -> str:
        """The findings as text, with their lines; empty without any."""
        return render(self.findings)


@dataclass(slots=True)
class Loaded:
    """A compiled kernel, ready for the machine. `judged` is what the checker says of it, once it was asked."""

    ptx: str
    program: Program
    judged: tuple[Diagnostic, ...] | None = None

    def findings(self) -> tuple[Diagnostic, ...]:
        """What the checker says."""
        if self.judged is None:
            self.judged = check(self.program.module).diagnostics
        return self.judged


class Launcher:
    """Made by Triton once for a compiled kernel, called by it for each launch."""

    def __init__(self, settings: Settings, source: Any, metadata: Any) -> None:
        self._settings = settings
        self._metadata = metadata
        self._signature: dict[str, Any] = dict(source.signature)
        self._maps: Sequence[dict[str, Any] | None] = getattr(metadata, "tensordesc_meta", None) or ()
        clusters = getattr(metadata, "cluster_dims", None)  # of Triton before 3.6
        self._cluster = int(prod(clusters) if clusters else metadata.num_ctas)

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: object,
        kernel: Loaded,
        packed: object,
        launch_metadata: object,
        enter: Any,
        leave: Any,
        *given: object,
    ) -> None:
        """Launch on a grid of x, y and z programs; `given` are all arguments of the kernel, constants included."""
        if x * y * z <= 0:
            return
        if enter is not None:
            enter(launch_metadata)
        named = list(self._arguments(given))
        names = [name for name, _ in named] + list(_SCRATCH)
        args = [value for _, value in named] + self._scratch(x * y * z, stream)
        parameters = kernel.program.parameters
        args = args[: max(len(named), len(parameters))]
        for number, (parameter, value) in enumerate(zip(parameters, args, strict=False)):
            if parameter.is_array and isinstance(value, np.generic):
                args[number] = value.tobytes()  # LLVM declares a half as an array of two bytes
        self._launch(kernel, (x * self._cluster, y, z), args, names)
        if leave is not None:
            leave(launch_metadata)

    def _launch(
        self, kernel: Loaded, grid: tuple[int, int, int], args: list[object], names: list[str]
    ) -> None:
        asked = self._settings
        block, shared = 32 * self._metadata.num_warps, self._metadata.shared
        known = (kernel.program.kernel.name, grid, block, self._cluster, shared, asked.schedule, kernel.ptx)
        before = retold(kernel.findings(), kernel.ptx, names) if asked.check else ()
        if asked.strict and any(found.severity is Severity.ERROR for found in before):
            asked.runs.append(Launched(*known, before))
            raise Found(before)
        try:
            run = launch(
                kernel.program,
                grid=grid,
                block=block,
                cluster=(self._cluster, 1, 1),
                shared=shared,
                args=args,
                schedule=asked.schedule,
                sanitize=asked.sanitize,
                trace=asked.trace,
                workers=asked.workers,
            )
        except WarploomError as error:
            error.diagnostics = retold(error.diagnostics, kernel.ptx, names)
            if isinstance(error, (Trap, Deadlock)):
                asked.runs.append(Launched(*known, before + error.diagnostics, trace=error.trace))
            raise
        after = retold(run.findings, kernel.ptx, names)
        asked.runs.append(Launched(*known, before + after, run.stats, run.trace))
        if asked.strict and before + after:
            raise Found(before + after)

    def _arguments(self, given: Sequence[object]) -> Iterator[tuple[str, object]]:
        """The kernel's parameters in order, each with its name and as `launch` takes it."""
        maps = iter(self._maps)

        def walk(name: str, word: Any, value: Any) -> Iterator[tuple[str, object]]:
            if isinstance(word, (tuple, list)):
                parts = zip(cast("Sequence[Any]", word), value, strict=True)
                for number, (inner, part) in enumerate(parts):
                    yield from walk(f"{name}[{number}]", inner, part)
            elif word == "constexpr":
                return
            elif str(word).startswith("tensordesc"):
                yield from _descriptor(name, value, next(maps, None))
            else:
                yield name, _plain(name, str(word), value)

        for (name, word), value in zip_longest(self._signature.items(), given):
            yield from walk(name, word, value)

    def _scratch(self, programs: int, stream: object) -> list[object]:
        """The buffers that compiled kernels ask for beside their arguments."""
        known = triton("runtime._allocation")
        buffers: list[object] = []
        for kind, setting in (("global", "_allocator"), ("profile", "_profile_allocator")):
            size = getattr(self._metadata, f"{kind}_scratch_size", 0) or 0
            if not size:
                buffers.append(None)
                continue
            align = getattr(self._metadata, f"{kind}_scratch_align", 1)
            held = getattr(known, setting)
            allocate = held.get() if hasattr(held, "get") else held
            buffer = allocate(size * programs * self._cluster, align, stream)
            buffers.append(memory(f"what the {kind} scratch allocator gave", buffer))
        return buffers


def _plain(name: str, word: str, value: Any) -> object:
    """An argument that is one parameter."""
    if word.startswith("*"):
        return None if value is None else memory(name, value)
    if word in _HALVES:
        return _HALVES[word].type(value)
    if word.startswith(("fp", "f")):
        return float(value)
    if not isinstance(value, int):
        raise UsageError(f"{name} is {value!r}; expected an integer for {word}", code="triton.argument")
    return int(value)


def _descriptor(name: str, value: Any, made: dict[str, Any] | None) -> Iterator[tuple[str, object]]:
    """The parameters of a TensorDescriptor: a tensor map where the target has them, its parts where not."""
    base: Array = memory(name, value.base)
    sizes = [*map(int, value.shape), *map(int, value.strides)]
    first = decomposed(value, base) if made is None else [tensor_map(name, value, base, made)]
    for part in [*first, *sizes]:
        yield name, part
