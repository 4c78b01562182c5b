"""Files with the results of tensor copies on a GPU.

A sample file has a digest of each result. A file of differences has the memories of the GPU and of the emulator for
copies with different results.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warploom_lab.campaign.experiment import Array
from warploom_lab.campaign.sample import opened
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome, emulated_answer

_EXAMPLES = 6  # differences of one kind that are kept
_LARGEST = 12 << 20  # changed bytes that are kept in total


@dataclass(frozen=True, slots=True)
class TensorSample:
    """Tensor copies with the results of a GPU.

    Case i of `cases` has the verdict `verdicts[i]` and the result digest `digests[i]`.
    """

    cases: Sequence[TensorCase]
    verdicts: Sequence[str]
    digests: Sequence[int]

    @classmethod
    def of(cls, outcomes: Iterable[TensorOutcome]) -> TensorSample:
        """Return a sample of the GPU's results in these outcomes, in the order of the case numbers."""
        ordered = sorted(outcomes, key=lambda outcome: outcome.case.number)
        return cls(
            [outcome.case for outcome in ordered],
            [outcome.real.verdict for outcome in ordered],
            [outcome.digest for outcome in ordered],
        )

    def write(self, path: Path) -> None:
        """Write the sample as an `.npz` file."""
        records = [case.record() for case in self.cases]
        np.savez_compressed(
            path,
            cases=_packed(records),
            verdicts=_packed(list(self.verdicts)),
            digests=np.array(self.digests, np.uint64),
        )

    @classmethod
    def read(cls, path: Path) -> TensorSample:
        """Read a sample from an `.npz` file.

        Errors: UsageError compare.sample if the file is not a sample.
        """
        with opened(path, "a sample of tensor copies") as arrays:
            cases = [TensorCase.of(record) for record in _unpacked(arrays["cases"])]
            return cls(cases, _unpacked(arrays["verdicts"]), arrays["digests"].tolist())

    def differing(self) -> Iterator[tuple[TensorCase, str, Answer]]:
        """Yield (case, GPU's verdict, emulator's result) for each case that differs on the emulator."""
        for case, verdict, digest in zip(self.cases, self.verdicts, self.digests, strict=True):
            emulated = emulated_answer(case)
            if emulated.digest() != digest:
                yield case, verdict, emulated


def write_differences(path: Path, outcomes: Iterable[TensorOutcome]) -> None:
    """Write the differing results of GPU and emulator, with the memories of both, as an `.npz` file.

    The file contains at most six similar outcomes, and at most 12 MiB of changed bytes.
    """
    seen: Counter[tuple[object, ...]] = Counter()
    records: list[dict[str, Any]] = []
    arrays: dict[str, Array] = {}
    left = _LARGEST
    for outcome in outcomes:
        case, made = outcome.case, outcome.case.map
        kind = (
            *(case.action, made.is_im2col, made.interleave, made.swizzle, case.reduction, case.kind == ""),
            *(outcome.real.verdict, outcome.emulated.verdict, outcome.emulated.words[:24]),
        )
        seen[kind] += 1
        if outcome.same or seen[kind] > _EXAMPLES:
            continue
        record: dict[str, Any] = {"case": case.record()}
        for name, answer in (("real", outcome.real), ("modelled", outcome.emulated)):
            record[name] = {"verdict": answer.verdict, "steps": answer.steps, "words": answer.words}
            for part, before in _before(case).items():
                after: Array = getattr(answer, part)
                # A memory is stored as the exclusive OR with its initial content.
                changed = after ^ before if after.size else after
                left -= int(np.count_nonzero(changed))
                if after.size and left > 0:
                    arrays[f"{len(records)} {name} {part}"] = changed
        records.append(record)
    np.savez_compressed(path, differences=_packed(records), **arrays)  # type: ignore[arg-type]


def read_differences(path: Path) -> list[tuple[TensorCase, Answer, Answer]]:
    """Read a file of `write_differences`. Return (case, GPU's result, emulator's result) of each copy."""
    found: list[tuple[TensorCase, Answer, Answer]] = []
    with np.load(path, allow_pickle=False) as arrays:
        for number, record in enumerate(_unpacked(arrays["differences"])):
            case = TensorCase.of(record["case"])
            answers: list[Answer] = []
            for name in ("real", "modelled"):
                answer = record[name]
                parts = {
                    part: arrays[key] ^ before
                    for part, before in _before(case).items()
                    if (key := f"{number} {name} {part}") in arrays.files
                }
                answers.append(Answer(answer["verdict"], tuple(answer["steps"]), words=answer["words"], **parts))
            found.append((case, answers[0], answers[1]))
    return found


def _before(case: TensorCase) -> dict[str, Array]:
    """Return the initial shared and global memory by name."""
    return {"shared": case.shared_memory(), "memory": case.global_memory()}


def _packed(data: list[Any]) -> Array:
    return np.frombuffer(json.dumps(data, separators=(",", ":")).encode(), np.uint8)


def _unpacked(packed: Array) -> list[Any]:
    return json.loads(packed.tobytes())
