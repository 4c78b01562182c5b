"""A sample of a campaign: what a GPU returned for a few cases of each experiment, as digests.

The inputs follow from the seed, so that the outputs alone are kept, eight bytes a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom_lab.campaign.experiment import Arrays, Experiment

CASES = 64
_BYTES = 8

Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Digests by experiment, in order. Shapes: each (cases,)."""

    seed: int
    digests: Mapping[str, Digests]

    def write(self, path: Path) -> None:
        """Write it as `.npz`."""
        rows = np.stack(list(self.digests.values()))
        names = np.array("\n".join(self.digests).encode())
        np.savez_compressed(path, seed=np.array(self.seed), names=names, digests=rows)

    @classmethod
    def read(cls, path: Path) -> Sample:
        """Read what was written. Errors: UsageError compare.sample where it is no sample."""
        try:
            with np.load(path, allow_pickle=False) as held:
                names = held["names"].item().decode().split("\n")
                return cls(int(held["seed"]), dict(zip(names, held["digests"], strict=True)))
        except (OSError, ValueError, KeyError) as error:
            raise UsageError(f"{path} is no sample of a campaign: {error}", code="compare.sample") from None


def key(experiment: Experiment) -> str:
    """What a sample calls an experiment: its instruction, after its form's name."""
    return f"{experiment.form} {experiment.instruction}"


def sample(
    experiments: Iterable[Experiment], device: str, seed: int, progress: Callable[[str], Any] | None = None
) -> Sample:
    """Digests of what a device returns for the first cases of each experiment."""
    found: dict[str, Digests] = {}
    for experiment in experiments:
        name = key(experiment)
        if progress is not None:
            progress(name)
        found[name] = _digests(experiment.run(experiment.make(CASES, seed), device))
    return Sample(seed, found)


def differing(taken: Sample, experiments: Iterable[Experiment]) -> Iterator[tuple[str, int]]:
    """Experiments whose outputs on the machine are not the sample's, with the first case that differs."""
    for experiment in experiments:
        recorded = taken.digests.get(key(experiment))
        if recorded is None:
            continue
        modelled = _digests(experiment.run(experiment.make(len(recorded), taken.seed), "cpu"))
        if (modelled != recorded).any():
            yield key(experiment), int(np.argmax(modelled != recorded))


def _digests(outputs: Arrays) -> Digests:
    """Eight bytes that stand for the outputs of each case. Shapes: (cases,)."""
    cases = len(next(iter(outputs.values())))
    words = (
        blake2b(b"".join(array[case].tobytes() for array in outputs.values()), digest_size=_BYTES).digest()
        for case in range(cases)
    )
    return np.array([int.from_bytes(word, "little") for word in words], np.uint64)
