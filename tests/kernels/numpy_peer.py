"""A peer in the host's memory, and a clock that says what it is told to."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from kernels.operand_types import OPERANDS

from warploom.gpu import Timing
from warploom.kernels.plan import DTYPES
from warploom.kernels.sparse import compress, prune
from warploom.kernels.timing.cases import KINDS, Case, Kind
from warploom.kernels.timing.cublas import Matrices, Multiply


class NumPy:
    """A peer in the host's memory."""

    name, version, kinds = "NumPy", "2", tuple(KINDS)

    def __init__(self) -> None:
        self.made = 0

    @contextmanager
    def settings(self) -> Generator[None]:
        yield

    def matrices(self, case: Case, seed: int) -> Matrices:
        self.made += 1
        kind, dice = case.kind, np.random.default_rng(seed)
        a, b = (dice.normal(size=(rows, case.k)) * (40 if kind.operand == "s8" else 1) for rows in (case.m, case.n))
        dtype = OPERANDS[kind.operand]
        a, b, d = a.astype(dtype), b.astype(dtype).T, np.empty((case.m, case.n), DTYPES[kind.result])
        a = prune(a) if kind.sparse else a
        return Matrices(a, b, d, compress(a) if kind.sparse else None)

    def multiply(self, kind: Kind) -> Any:
        def multiply(a: Any, b: Any, d: Any) -> None:
            d[...] = (a.astype(np.float64) @ b.astype(np.float64)).astype(d.dtype)

        return multiply

    def choices(self, case: Case) -> Sequence[Multiply]:
        return [self.multiply(case.kind)]

    def difference(self, first: Any, second: Any) -> float:
        x, y = first.astype(np.float64), second.astype(np.float64)
        return float(np.abs(x - y).max() / np.sqrt(np.square(y).mean()))


class Clock:
    """Says how long a call of each list takes, and keeps what it was given. Units: microseconds."""

    def __init__(self, **times: float) -> None:
        self.times = times or {"ours": 4.0, "theirs": 5.0}
        self.given: list[tuple[Mapping[str, Sequence[Any]], int]] = []

    def __call__(self, calls: Mapping[str, Sequence[Any]], repetitions: int) -> Mapping[str, Timing]:
        self.given.append((calls, repetitions))
        return {name: Timing((self.times[name],) * repetitions) for name in calls}
