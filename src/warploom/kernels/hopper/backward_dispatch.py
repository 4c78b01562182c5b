"""Grids and arguments of the Hopper kernels for the gradients of attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from warploom.author import Kernel
from warploom.diagnostics import UsageError
from warploom.kernels.attention_plan import SPAN
from warploom.kernels.attention_problem import AttentionProblem
from warploom.kernels.epilogue import LOG2_E
from warploom.kernels.hopper.backward import attention_backward
from warploom.kernels.hopper.backward_plan import GROUP_KEYS, HEADS, BackwardPlan, plan_for
from warploom.kernels.hopper.backward_rows import THREADS, finish, prepare
from warploom.layout import TensorMap, strided

_L2_PROMOTION = 256  # bytes that L2 fetches at once
Arrays = Mapping[str, Any]
"""Arrays by name: do, q, k, v, o, lse, dq, dk, dv, terms, sums, turns, q_ends, k_ends. None is absent."""


@dataclass(frozen=True, slots=True)
class Step:
    """Launch of one kernel.

    `arrays` has the name of the array for each pointer, or None. `boxes` has the rows of a box for each tensor map,
    whose array has the name of the parameter.
    """

    kernel: Kernel
    grid: tuple[int, ...]
    block: int
    arrays: dict[str, str | None]
    boxes: dict[str, int]
    numbers: dict[str, int | float]

    def tensor_maps(self, arrays: Arrays, *, packed: bool) -> dict[str, TensorMap]:
        """Return the tensor maps by parameter."""
        found: dict[str, TensorMap] = {}
        for name, rows in self.boxes.items():
            planes = arrays[name][None] if packed else arrays[name]
            box = (1, 1, rows, SPAN)
            found[name] = TensorMap.tiled(planes.swapaxes(1, 2), box, swizzle=128, l2_promotion=_L2_PROMOTION)
        return found

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in order."""
        return [each.name.removeprefix(f"{self.kernel.entry}_") for each in self.kernel.built.parameters]


@dataclass(frozen=True, slots=True)
class HopperBackward:
    """Launches of the Hopper kernels for the gradients of attention."""

    problem: AttentionProblem
    plan: BackwardPlan

    @classmethod
    def of(cls, problem: AttentionProblem, *, deterministic: bool) -> HopperBackward:
        """Return the launches for a problem. Errors: UsageError kernels.shape."""
        if problem.head != problem.head_v or problem.head not in HEADS:
            message = f"the head sizes are {problem.head} and {problem.head_v}; expected {' or '.join(map(str, HEADS))}"
            raise UsageError(f"{message} for Q, K and V", code="kernels.shape")
        window = problem.window
        plan = plan_for(
            problem.type, problem.head, right=window.right is not None, left=window.left is not None,
            packed=problem.packed, lengths=problem.lengths, deterministic=deterministic,
        )  # fmt: skip
        return cls(problem, plan)

    def _blocks(self, tokens: int, size: int) -> int:
        """Return the number of blocks of a line or, if the sequences are packed, of a head."""
        return tokens // size + self.problem.batch if self.problem.packed else ceil(tokens / size)

    @property
    def row_blocks(self) -> int:
        """Number of blocks of rows of a line or, if the sequences are packed, of a head."""
        return self._blocks(self.problem.q_tokens, self.plan.rows)

    @property
    def planes(self) -> int:
        """Number of sequences, or 1 if they are packed."""
        return 1 if self.problem.packed else self.problem.batch

    @property
    def workspace(self) -> tuple[int, int, int]:
        """Numbers of 32-bit words of the sums of dQ, the terms of rows, and the turns of the CTAs."""
        plan, blocks = self.plan, self.row_blocks * self.problem.heads * self.planes
        turns = blocks * plan.consumers if plan.deterministic else 0
        return blocks * plan.block_elements, blocks * 2 * plan.rows, turns

    def steps(self, arrays: Arrays) -> tuple[Step, Step, Step]:
        """Return the three launches, for arrays with certain layouts."""
        problem, plan = self.problem, self.plan
        ends = "q_ends" if problem.packed else None, "k_ends" if problem.packed or problem.lengths else None
        lengths = dict(zip(("q_ends", "k_ends"), ends, strict=True))
        turns = {"turns": "turns" if plan.deterministic else None}
        sizes = {
            "batch": problem.batch, "q_tokens": problem.q_tokens, "k_tokens": problem.k_tokens,
            "heads": problem.heads, "row_blocks": self.row_blocks,
        }  # fmt: skip
        rows = self.row_blocks, problem.heads, self.planes
        blocks = self._blocks(problem.k_tokens, plan.keys)
        before = Step(
            prepare.at(plan=plan), rows, THREADS,
            {name: name for name in ("do", "o", "lse", "terms", "sums")} | turns | lengths, {},
            _strides(arrays, "do") | _strides(arrays, "o") | sizes,
        )  # fmt: skip
        by_address = {f"{name}_start": name if problem.packed else None for name in ("dk", "dv")}
        numbers = _strides(arrays, "dk") | _strides(arrays, "dv")
        main = Step(
            attention_backward.at(plan=plan), (blocks * problem.heads_kv * self.planes,), plan.threads,
            by_address | {"terms": "terms", "sums": "sums"} | turns | lengths,
            {"q": plan.rows, "k": plan.keys, "v": plan.keys, "do": plan.rows, "dk": GROUP_KEYS, "dv": GROUP_KEYS},
            {name: value for name, value in numbers.items() if not name.endswith("plane")} | sizes
            | {
                "scale": problem.scale, "power": problem.scale * LOG2_E, "sharing": problem.heads // problem.heads_kv,
                "blocks": blocks, "left": problem.window.left or 0, "right": problem.window.right or 0,
            },
        )  # fmt: skip
        after = Step(
            finish.at(plan=plan), rows, THREADS, {"dq": "dq", "sums": "sums"} | lengths, {},
            _strides(arrays, "dq") | sizes | {"scale": problem.scale},
        )  # fmt: skip
        return before, main, after


def _strides(arrays: Arrays, name: str) -> dict[str, int | float]:
    """Return the strides of an array in bytes, by parameter.

    The stride of a missing axis of sequences is 0.
    """
    layout = strided(arrays[name])
    plane = layout.strides[0] if layout.ndim > 3 else 0
    return {f"{name}_token": layout.strides[-3], f"{name}_head": layout.strides[-2], f"{name}_plane": plane}
