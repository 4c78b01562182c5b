"""What a GPU answered to tensor copies, on disk: a sample to compare with, and differences to study."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom_lab.campaign.experiment import Array
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome, modelled_answer

_ALIKE = 6  # differences of one kind that are kept
_KEPT = 12 << 20  # changed bytes that are kept in all


@dataclass(frozen=True, slots=True)
class TensorSample:
    """Cases, and of each the verdict of a GPU and a digest of its answer."""

    cases: Sequence[TensorCase]
    verdicts: Sequence[str]
    digests: Sequence[int]

    @classmethod
    def of(cls, outcomes: Iterable[TensorOutcome]) -> TensorSample:
        """The sample of what a GPU answered."""
        ordered = sorted(outcomes, key=lambda outcome: outcome.case.number)
        return cls(
            [outcome.case for outcome in ordered],
            [outcome.real.verdict for outcome in ordered],
            [outcome.digest for outcome in ordered],
        )

    def write(self, path: Path) -> None:
        """Write it as `.npz`."""
        records = [case.record() for case in self.cases]
        np.savez_compressed(
            path,
            cases=_packed(records),
            verdicts=_packed(list(self.verdicts)),
            digests=np.array(self.digests, np.uint64),
        )

    @classmethod
    def read(cls, path: Path) -> TensorSample:
        """Read what was written. Errors: UsageError compare.sample where it is no sample."""
        try:
            with np.load(path, allow_pickle=False) as held:
                cases = [TensorCase.of(record) for record in _unpacked(held["cases"])]
                return cls(cases, _unpacked(held["verdicts"]), held["digests"].tolist())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path} is no sample of tensor copies: {error}", code="compare.sample"
            ) from None

    def differing(self) -> Iterator[tuple[TensorCase, str, Answer]]:
        """Cases to which the machine answers something else, with the GPU's verdict and the machine's answer."""
        for case, verdict, digest in zip(self.cases, self.verdicts, self.digests, strict=True):
            modelled = modelled_answer(case)
            if modelled.digest() != digest:
                yield case, verdict, modelled


def write_differences(path: Path, outcomes: Iterable[TensorOutcome]) -> None:
    """Write cases that differ, with the bytes that either device left; of cases alike only some."""
    seen: Counter[tuple[object, ...]] = Counter()
    records: list[dict[str, Any]] = []
    arrays: dict[str, Array] = {}
    left = _KEPT
    for outcome in outcomes:
        case, made = outcome.case, outcome.case.map
        alike = (
            *(case.action, made.is_im2col, made.interleave, made.swizzle, case.reduction, case.kind == ""),
            *(outcome.real.verdict, outcome.modelled.verdict, outcome.modelled.words[:24]),
        )
        seen[alike] += 1
        if outcome.same or seen[alike] > _ALIKE:
            continue
        record: dict[str, Any] = {"case": case.record()}
        for name, answer in (("real", outcome.real), ("modelled", outcome.modelled)):
            record[name] = {"verdict": answer.verdict, "steps": answer.steps, "words": answer.words}
            for part, before in _before(case).items():
                held: Array = getattr(answer, part)
                changed = held ^ before if held.size else held
                left -= int(np.count_nonzero(changed))
                if held.size and left > 0:
                    arrays[f"{len(records)} {name} {part}"] = changed
        records.append(record)
    np.savez_compressed(path, differences=_packed(records), **arrays)  # type: ignore[arg-type]


def read_differences(path: Path) -> list[tuple[TensorCase, Answer, Answer]]:
    """Cases that differed, with the GPU's answer and the machine's of that time."""
    found: list[tuple[TensorCase, Answer, Answer]] = []
    with np.load(path, allow_pickle=False) as held:
        for number, record in enumerate(_unpacked(held["differences"])):
            case = TensorCase.of(record["case"])
            both: list[Answer] = []
            for name in ("real", "modelled"):
                said = record[name]
                parts = {
                    part: held[key] ^ before
                    for part, before in _before(case).items()
                    if (key := f"{number} {name} {part}") in held.files
                }
                both.append(Answer(said["verdict"], tuple(said["steps"]), words=said["words"], **parts))
            found.append((case, both[0], both[1]))
    return found


def _before(case: TensorCase) -> dict[str, Array]:
    """What memory holds before, by which changes are told."""
    return {"shared": case.shared_memory(), "memory": case.global_memory()}


def _packed(data: list[Any]) -> Array:
    return np.frombuffer(json.dumps(data, separators=(",", ":")).encode(), np.uint8)


def _unpacked(held: Array) -> list[Any]:
    return json.loads(held.tobytes())
