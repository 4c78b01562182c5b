"""Small kernels of what threads, CTAs and clusters do together: run on a GPU and on the machine, word for word.

The kernels stand in `kernels/*.ptx`, a file for each area, all in the frame of `kernels/frame.ptx`. A kernel begins
at a line `//! name | grid 2 | block 64 | .maxnreg 64`: extents, bytes and directives, each where it is not the
frame's own. It writes words of its own threads at `%out`, reads words at `%in` and may change those at `%mem`; the
words at `%out` and `%mem` are its output.

kernels(["mbarrier"])[0].run("cpu", "lazy")             # -> words
with Guarded("cuda") as run:
    record(kernels(), run).write(path)                  # what a GPU returned, to be compared without it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError, WarploomError
from warploom.runtime.api import launch
from warploom_lab.campaign import patterns

Words = NDArray[np.uint32]
Extents = tuple[int, int, int]

AREAS = ("atomics", "barriers", "bulk", "cluster", "distributed", "mbarrier", "registers", "remote", "warp")
SCHEDULES = ("eager", "lazy", "random:1", "random:2", "random:3")
_ARCH = "sm_90a"
_WORDS = 4096  # at %in, and at %mem
_SEED = 7
_DEFAULTS = {"grid": "1", "block": "32", "cluster": "", "dynamic": "0", "shared": "4096", "words": "1"}


@dataclass(frozen=True, slots=True)
class SmallKernel:
    """A kernel, its launch, and how many words a thread writes. Units: `dynamic` shared memory in bytes."""

    area: str
    name: str
    text: str
    grid: Extents
    block: Extents
    cluster: Extents
    dynamic: int
    words: int

    @property
    def key(self) -> str:
        """What records call it."""
        return f"{self.area}/{self.name}"

    @property
    def digest(self) -> int:
        """Eight bytes that stand for its text and its launch."""
        said = f"{self.text} {self.grid} {self.block} {self.cluster} {self.dynamic} {self.words}"
        return int.from_bytes(blake2b(said.encode(), digest_size=8).digest(), "little")

    def run(self, device: str, schedule: str = "eager") -> Words:
        """Its output on a device: the words of all threads, then the memory it may change. Errors: as `launch`."""
        threads = int(np.prod(self.grid)) * int(np.prod(self.block))
        out = np.zeros(threads * self.words, np.uint32)
        given, memory = inputs()
        launch(
            self.text,
            grid=self.grid,
            block=self.block,
            cluster=self.cluster,
            shared=self.dynamic,
            args=[out, given, memory],
            arch=_ARCH,
            schedule=schedule,
            device="cuda" if device == "cuda" else "cpu",
        )
        return np.concatenate([out, memory])


def inputs() -> tuple[Words, Words]:
    """The words that every kernel reads, and those that it may change: the same on every machine."""
    given = patterns.draw(_SEED, _WORDS).astype(np.uint32)
    return given, np.arange(_WORDS, dtype=np.uint32)


# Reading ----------------------------------------------------------------------------------------------------


@cache
def _all() -> tuple[SmallKernel, ...]:
    folder = files("warploom_lab.campaign") / "kernels"
    frame = Template((folder / "frame.ptx").read_text())
    return tuple(
        _kernel(area, frame, *section.partition("\n")[::2])
        for area in AREAS
        for section in (folder / f"{area}.ptx").read_text().split("//! ")[1:]
    )


def _kernel(area: str, frame: Template, head: str, body: str) -> SmallKernel:
    name, *fields = (part.strip() for part in head.split("|"))
    given = dict(_DEFAULTS)
    directives = [field for field in fields if field.startswith(".")]
    given.update((field.split(None, 1)[0], field.split(None, 1)[1]) for field in fields if field[0] != ".")
    label = re.sub(r"\W", "_", f"{area}_{name}")
    text = frame.substitute(
        name=label, directives=" ".join(directives), shared=given["shared"], words=given["words"],
        body="\n".join(f"    {line.strip()}" for line in body.splitlines() if line.strip()),
    )  # fmt: skip
    block, grid = _extents(given["block"]), _extents(given["grid"])
    cluster = _extents(given["cluster"] or "1")
    return SmallKernel(area, name, text, grid, block, cluster, int(given["dynamic"]), int(given["words"]))


def _extents(text: str) -> Extents:
    x, y, z = (*(int(part) for part in text.split(",")), 1, 1)[:3]
    return x, y, z


def kernels(names: Sequence[str] = ()) -> tuple[SmallKernel, ...]:
    """The kernels of some areas, or of some names; all of them without any.

    Errors: UsageError compare.kernel for a name that is neither.
    """
    for name in names:
        if not any(name in (each.area, each.name, each.key) for each in _all()):
            raise UsageError(
                f"'{name}' is neither an area nor a small kernel",
                code="compare.kernel",
                hint=f"areas: {', '.join(AREAS)}",
            )
    return tuple(each for each in _all() if not names or {each.area, each.name, each.key} & {*names})


# Records ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """What a GPU returned: outputs by kernel, the digests of the kernels' texts, and kernels that failed."""

    outputs: Mapping[str, Words]
    digests: Mapping[str, int]
    failures: Mapping[str, str]

    def write(self, path: Path) -> None:
        """Write it as `.npz`; what failed is left out."""
        held = list(self.outputs.values())
        np.savez_compressed(
            path,
            names=np.array("\n".join(self.outputs).encode()),
            digests=np.array([self.digests[name] for name in self.outputs], np.uint64),
            sizes=np.array([len(words) for words in held]),
            words=np.concatenate([*held, np.zeros(0, np.uint32)]),
        )

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read what was written. Errors: UsageError compare.sample where it is no record."""
        try:
            with np.load(path, allow_pickle=False) as held:
                names = held["names"].item().decode().split("\n")
                ends = np.cumsum(held["sizes"])[:-1]
                outputs = dict(zip(names, np.split(held["words"], ends), strict=True))
                return cls(outputs, dict(zip(names, held["digests"].tolist(), strict=True)), {})
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(
                f"{path} is no record of small kernels: {error}", code="compare.sample"
            ) from None


def output(device: str, kernel: SmallKernel) -> Words | str:
    """A kernel's output on a device, or why there is none."""
    try:
        return kernel.run(device)
    except WarploomError as error:
        return f"{error}"


def record(
    chosen: Sequence[SmallKernel],
    found: Iterable[tuple[int, Words | str]],
    progress: Callable[[], Any] | None = None,
) -> Record:
    """What a device returned for each kernel, given with its number, or said instead."""
    outputs: dict[str, Words] = {}
    digests: dict[str, int] = {}
    failures: dict[str, str] = {}
    for number, words in found:
        kernel = chosen[number]
        if isinstance(words, str):
            failures[kernel.key] = words
        else:
            outputs[kernel.key], digests[kernel.key] = words, kernel.digest
        if progress is not None:
            progress()
    return Record(outputs, digests, failures)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A kernel whose output on the machine is not the recorded one: the first word that differs."""

    kernel: str
    schedule: str
    said: str

    def __str__(self) -> str:
        return f"{self.kernel} ({self.schedule}): {self.said}"


def disagreements(
    recorded: Record,
    chosen: Iterable[SmallKernel],
    schedules: Sequence[str] = SCHEDULES,
    progress: Callable[[], Any] | None = None,
) -> Iterator[Disagreement]:
    """Kernels that do not return on the machine what the GPU returned."""
    for kernel in chosen:
        if progress is not None:
            progress()
        if recorded.digests.get(kernel.key) != kernel.digest:
            yield Disagreement(kernel.key, "record", "was not recorded as it stands; record it again")
            continue
        for schedule in schedules:
            try:
                said = difference(recorded.outputs[kernel.key], kernel.run("cpu", schedule), kernel.words)
            except WarploomError as error:
                said = f"{error}"
            if said:
                yield Disagreement(kernel.key, schedule, said)
                break


def difference(real: Words, modelled: Words, words: int) -> str:
    """The first word that differs, in a phrase; empty where none does."""
    wrong = np.flatnonzero(real != modelled)
    if not len(wrong):
        return ""
    at = int(wrong[0])
    threads = len(real) - _WORDS
    where = f"thread {at // words}, word {at % words}" if at < threads else f"memory word {at - threads}"
    count = f"{len(wrong)} of {len(real)} words differ; "
    return f"{count}{where}: the GPU has {real[at]:#x}, the machine {modelled[at]:#x}"
