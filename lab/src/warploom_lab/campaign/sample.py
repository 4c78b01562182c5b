"""Sample of a GPU's results: digests of the outputs for a few cases of each experiment."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom_lab.campaign.experiment import Array, Arrays, Experiment

CASES = 64
_BYTES = 8

Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sample:
    """Digests of a GPU's outputs by experiment, and the seed of the inputs.

    Shapes: each array of digests is (cases,).
    """

    seed: int
    digests: Mapping[str, Digests]

    def write(self, path: Path) -> None:
        """Write the sample as an `.npz` file."""
        rows = np.stack(list(self.digests.values()))
        names = np.array("\n".join(self.digests).encode())
        np.savez_compressed(path, seed=np.array(self.seed), names=names, digests=rows)

    @classmethod
    def read(cls, path: Path) -> Sample:
        """Read a sample from an `.npz` file.

        Errors: UsageError compare.sample if the file is not a sample.
        """
        with opened(path, "a sample of a campaign") as arrays:
            return cls(int(arrays["seed"]), dict(zip(names_in(arrays), arrays["digests"], strict=True)))


@contextmanager
def opened(path: Path, content: str) -> Generator[Mapping[str, Array]]:
    """Open an `.npz` file and yield its arrays by name.

    `content` describes the expected content, for the message of an error.

    Errors: UsageError compare.sample if the file or one of its arrays cannot be read inside the `with` block.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not {content}: {error}", code="compare.sample") from None


def names_in(arrays: Mapping[str, Array]) -> list[str]:
    """Return the names in the array `names`, which is a text with one name on each line."""
    return arrays["names"].item().decode().split("\n")


def key(experiment: Experiment) -> str:
    """Return the name of an experiment in a sample: its form and its instruction."""
    return f"{experiment.form} {experiment.instruction}"


def sample(
    experiments: Iterable[Experiment], device: str, seed: int, progress: Callable[[str], Any] | None = None
) -> Sample:
    """Run each experiment with 64 random inputs on a device. Return the digests of the outputs.

    `progress` receives the name of each experiment before it runs.
    """
    found: dict[str, Digests] = {}
    for experiment in experiments:
        name = key(experiment)
        if progress is not None:
            progress(name)
        found[name] = _digests(experiment.run(experiment.make(CASES, seed), device))
    return Sample(seed, found)


def differing(recorded: Sample, experiments: Iterable[Experiment]) -> Iterator[tuple[str, int]]:
    """Yield (experiment, first different case) for each experiment that differs from the sample.

    The experiments run on the emulator.
    """
    for experiment in experiments:
        expected = recorded.digests.get(key(experiment))
        if expected is None:
            continue
        emulated = _digests(experiment.run(experiment.make(len(expected), recorded.seed), "cpu"))
        if (emulated != expected).any():
            yield key(experiment), int(np.argmax(emulated != expected))


def _digests(outputs: Arrays) -> Digests:
    """Return an eight-byte digest of the outputs of each case. Shapes: (cases,)."""
    cases = len(next(iter(outputs.values())))
    words = (
        blake2b(b"".join(array[case].tobytes() for array in outputs.values()), digest_size=_BYTES).digest()
        for case in range(cases)
    )
    return np.array([int.from_bytes(word, "little") for word in words], np.uint64)
