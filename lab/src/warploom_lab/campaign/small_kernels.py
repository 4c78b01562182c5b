"""Small kernels in which threads, CTAs and clusters cooperate, run on a GPU and on the emulator.

The kernels are in `kernels/*.ptx`. A kernel begins at a line such as `//! name | grid 2 | block 64 | .maxnreg 64`.

    kernels(["mbarrier"])[0].run("cpu", "lazy")             # -> words
    record(kernels(), results).write(path)                  # the GPU's outputs, for comparisons without the GPU
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
from warploom_lab.campaign.sample import names_in, opened

Words = NDArray[np.uint32]
Extents = tuple[int, int, int]

AREAS = ("atomics", "barriers", "bulk", "cluster", "distributed", "mbarrier", "registers", "remote", "warp")
SCHEDULES = ("eager", "lazy", "random:1", "random:2", "random:3")
_ARCH = "sm_90a"
_WORDS = 4096  # words at %in, and at %mem
_SEED = 7
# Extents and sizes that the first line of a kernel does not state.
_DEFAULTS = {"grid": "1", "block": "32", "cluster": "", "dynamic": "0", "shared": "4096", "words": "1"}


@dataclass(frozen=True, slots=True)
class SmallKernel:
    """Small kernel with its launch extents.

    `words` is the number of words that each thread writes. `dynamic` is the dynamic shared memory in bytes.
    """

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
        """Name of the kernel in a record: area/name."""
        return f"{self.area}/{self.name}"

    @property
    def digest(self) -> int:
        """Eight-byte digest of the kernel's text and its launch extents."""
        content = f"{self.text} {self.grid} {self.block} {self.cluster} {self.dynamic} {self.words}"
        return int.from_bytes(blake2b(content.encode(), digest_size=8).digest(), "little")

    def run(self, device: str, schedule: str = "eager") -> Words:
        """Run the kernel. Return the words at `%out` of all threads, then those at `%mem`.

        `schedule` decides when asynchronous operations of the emulator take effect. Errors: the errors of `launch`.
        """
        threads = int(np.prod(self.grid)) * int(np.prod(self.block))
        out = np.zeros(threads * self.words, np.uint32)
        words, memory = inputs()
        options: dict[str, Any] = {} if device == "cuda" else {"arch": _ARCH, "schedule": schedule}
        launch(
            self.text,
            grid=self.grid,
            block=self.block,
            cluster=self.cluster,
            shared=self.dynamic,
            args=[out, words, memory],
            device="cuda" if device == "cuda" else "cpu",
            **options,
        )
        return np.concatenate([out, memory])


def inputs() -> tuple[Words, Words]:
    """Return the words that kernels read at `%in`, and the words that kernels may change at `%mem`."""
    words = patterns.draw(_SEED, _WORDS).astype(np.uint32)
    return words, np.arange(_WORDS, dtype=np.uint32)


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
    options = dict(_DEFAULTS)
    directives = [field for field in fields if field.startswith(".")]
    options.update((field.split(None, 1)[0], field.split(None, 1)[1]) for field in fields if field[0] != ".")
    label = re.sub(r"\W", "_", f"{area}_{name}")
    text = frame.substitute(
        name=label, directives=" ".join(directives), shared=options["shared"], words=options["words"],
        body="\n".join(f"    {line.strip()}" for line in body.splitlines() if line.strip()),
    )  # fmt: skip
    block, grid = _extents(options["block"]), _extents(options["grid"])
    cluster = _extents(options["cluster"] or "1")
    return SmallKernel(area, name, text, grid, block, cluster, int(options["dynamic"]), int(options["words"]))


def _extents(text: str) -> Extents:
    x, y, z = (*(int(part) for part in text.split(",")), 1, 1)[:3]
    return x, y, z


def kernels(names: Sequence[str] = ()) -> tuple[SmallKernel, ...]:
    """Return the small kernels with these names, or of the areas with these names.

    Without names, return all small kernels. Errors: UsageError compare.kernel for an unknown name.
    """
    for name in names:
        if not any(name in (each.area, each.name, each.key) for each in _all()):
            raise UsageError(
                f"unknown area or small kernel '{name}'", code="compare.kernel", hint=f"areas: {', '.join(AREAS)}"
            )
    return tuple(each for each in _all() if not names or {each.area, each.name, each.key} & {*names})


# Records ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """Outputs of a GPU and digests of the kernels, by `SmallKernel.key`.

    `failures` has the messages of kernels that did not run.
    """

    outputs: Mapping[str, Words]
    digests: Mapping[str, int]
    failures: Mapping[str, str]

    def write(self, path: Path) -> None:
        """Write the record as an `.npz` file, without the kernels that did not run."""
        outputs = list(self.outputs.values())
        np.savez_compressed(
            path,
            names=np.array("\n".join(self.outputs).encode()),
            digests=np.array([self.digests[name] for name in self.outputs], np.uint64),
            sizes=np.array([len(words) for words in outputs]),
            words=np.concatenate([*outputs, np.zeros(0, np.uint32)]),
        )

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a record from an `.npz` file.

        Errors: UsageError compare.sample if the file is not a record.
        """
        with opened(path, "a record of small kernels") as arrays:
            names = names_in(arrays)
            ends = np.cumsum(arrays["sizes"])[:-1]
            outputs = dict(zip(names, np.split(arrays["words"], ends), strict=True))
            return cls(outputs, dict(zip(names, arrays["digests"].tolist(), strict=True)), {})


def output(device: str, kernel: SmallKernel) -> Words | str:
    """Run a kernel on a device. Return its output, or a message if it did not run."""
    try:
        return kernel.run(device)
    except WarploomError as error:
        return f"{error}"


def record(
    chosen: Sequence[SmallKernel], found: Iterable[tuple[int, Words | str]], progress: Callable[[], Any] | None = None
) -> Record:
    """Return the record of the chosen kernels from their results on the GPU.

    `found` yields (index of the kernel in `chosen`, output or error message). `progress` is called after each result.
    """
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
class Mismatch:
    """Small kernel whose output on the emulator differs from the record.

    `schedule` is the schedule of the emulator, or "record" if the kernel changed after it was recorded.
    """

    kernel: str
    schedule: str
    message: str

    def __str__(self) -> str:
        return f"{self.kernel} ({self.schedule}): {self.message}"


def mismatches(
    recorded: Record,
    chosen: Iterable[SmallKernel],
    schedules: Sequence[str] = SCHEDULES,
    progress: Callable[[], Any] | None = None,
) -> Iterator[Mismatch]:
    """Yield a mismatch for each chosen kernel whose output on the emulator differs from the record.

    Each kernel runs with each schedule until its output differs. `progress` is called before each kernel.
    """
    for kernel in chosen:
        if progress is not None:
            progress()
        if recorded.digests.get(kernel.key) != kernel.digest:
            yield Mismatch(kernel.key, "record", "the kernel changed after the record; record it again")
            continue
        for schedule in schedules:
            try:
                message = difference(recorded.outputs[kernel.key], kernel.run("cpu", schedule), kernel.words)
            except WarploomError as error:
                message = f"{error}"
            if message:
                yield Mismatch(kernel.key, schedule, message)
                break


def difference(real: Words, emulated: Words, words: int) -> str:
    """Return a message about the first word that differs in two outputs, or "" if they are equal.

    `real` is the output of the GPU, and `emulated` that of the emulator. Each thread writes `words` words.
    """
    wrong = np.flatnonzero(real != emulated)
    if not len(wrong):
        return ""
    at = int(wrong[0])
    threads = len(real) - _WORDS
    where = f"thread {at // words}, word {at % words}" if at < threads else f"memory word {at - threads}"
    count = f"{len(wrong)} of {len(real)} words differ; "
    return f"{count}{where}: the GPU has {real[at]:#x}, the emulator {emulated[at]:#x}"
