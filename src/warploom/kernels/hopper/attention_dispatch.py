"""Grid and arguments of the Hopper attention kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from warploom.author import Kernel
from warploom.kernels.attention_problem import AttentionOperands, AttentionProblem
from warploom.kernels.hopper.attention import attention
from warploom.kernels.hopper.attention_plan import SPAN, AttentionPlan, plan_for
from warploom.layout import TensorMap, strided

_LOG2_E = 1.4426950408889634
_L2_BYTES = 32e6  # keys and values that all CTAs share in L2 at a time
_L2_PROMOTION = 256  # bytes that L2 fetches at once


@dataclass(frozen=True, slots=True)
class HopperAttention:
    """Launch of the Hopper attention kernel on a GPU with `multiprocessors` multiprocessors."""

    problem: AttentionProblem
    plan: AttentionPlan
    multiprocessors: int

    @classmethod
    def of(cls, problem: AttentionProblem, multiprocessors: int) -> HopperAttention:
        """Return the launch for a problem."""
        window = problem.window
        plan = plan_for(
            problem.type, problem.head, problem.head_v, problem.k_tokens, right=window.right is not None,
            left=window.left is not None, packed=problem.packed, lengths=problem.lengths, lse=problem.lse,
        )  # fmt: skip
        return cls(problem, plan, multiprocessors)

    @property
    def kernel(self) -> Kernel:
        """The kernel, which is built at its first use."""
        return attention.at(plan=self.plan)

    @property
    def blocks(self) -> int:
        """Number of tiles of a head of one sequence."""
        return ceil(self.problem.most_rows / self.plan.rows)

    @property
    def lines(self) -> int:
        """Number of heads of all sequences."""
        return self.problem.heads * self.problem.batch

    @property
    def grid(self) -> int:
        """Number of CTAs."""
        return min(self.multiprocessors, self.blocks * self.lines)

    @property
    def block(self) -> int:
        """Number of threads of a CTA."""
        return self.plan.threads

    def tensor_maps(self, operands: AttentionOperands) -> dict[str, TensorMap]:
        """Return the tensor maps of Q, K, V and O by parameter."""
        rows = {"q": self.plan.rows, "k": self.plan.keys, "v": self.plan.keys, "o": 64}
        arrays = {"q": operands.q, "k": operands.k, "v": operands.v, "o": operands.out}
        return {name: self._map(arrays[name], count) for name, count in rows.items()}

    def _map(self, array: Any, rows: int) -> TensorMap:
        planes = array[None] if self.problem.packed else array
        box = (1, 1, rows, SPAN)
        return TensorMap.tiled(planes.swapaxes(1, 2), box, swizzle=128, l2_promotion=_L2_PROMOTION)

    def addresses(self, operands: AttentionOperands, counter: Any) -> dict[str, Any]:
        """Return the arrays that the kernel accesses by address, by parameter. None is unused."""
        return {
            "o_start": operands.out if self.plan.packed else None,
            "lse": operands.lse,
            "counter": counter,
            "q_ends": operands.q_ends,
            "k_ends": operands.k_ends if self.plan.packed else operands.k_lengths,
        }

    def numbers(self, operands: AttentionOperands) -> dict[str, int | float]:
        """Return the numbers of the launch by parameter."""
        problem, layout = self.problem, strided(operands.out)
        sharing = problem.heads // problem.heads_kv
        line_bytes = 2 * problem.k_tokens * (problem.head + problem.head_v)
        section = max(1, int(_L2_BYTES / line_bytes)) * sharing
        return {
            "o_token": layout.strides[-3], "o_head": layout.strides[-2], "scale": problem.scale * _LOG2_E,
            "q_tokens": problem.q_tokens, "k_tokens": problem.k_tokens, "heads": problem.heads, "sharing": sharing,
            "blocks": self.blocks, "lines": self.lines, "section": min(section, self.lines),
            "left": problem.window.left or 0, "right": problem.window.right or 0,
        }  # fmt: skip
