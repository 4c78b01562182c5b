"""Grid and arguments of the attention kernel for sm_80 and later."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from warploom.kernels.ampere.attention import kernel_of
from warploom.kernels.ampere.attention_plan import WarpAttentionPlan, plan_for
from warploom.kernels.attention_launch import KernelLaunch, line_numbers
from warploom.kernels.attention_problem import AttentionOperands, AttentionProblem
from warploom.layout import strided


def warp_attention(problem: AttentionProblem, target: str) -> WarpAttention:
    """Return the launch for a problem. Errors: UsageError kernels.target, check.target."""
    plan = plan_for(
        problem.type, problem.head, problem.head_v, target, rows=problem.most_rows, sharing=problem.sharing,
        page=problem.page, **problem.plan_fields,
    )  # fmt: skip
    return WarpAttention(problem, plan)


@dataclass(frozen=True, slots=True)
class WarpAttention:
    """Launch of the kernel `attention`. A line has `plan.sharing` heads of one sequence."""

    problem: AttentionProblem
    plan: WarpAttentionPlan
    words = 0

    def launches(self, operands: AttentionOperands) -> list[KernelLaunch]:
        """Return the launch for operands that include the results."""
        problem, plan = self.problem, self.plan
        blocks = ceil(problem.most_rows * plan.sharing / plan.rows)
        lines = problem.heads // plan.sharing * problem.batch
        numbers = line_numbers(problem, plan.sharing, blocks)
        names = ("q", "k", "v", "out")
        for name in names:
            plane, token, head, _ = (0, *strided(getattr(operands, name)).strides)[-4:]
            numbers |= {f"{name}_token": token, f"{name}_head": head, f"{name}_plane": plane}
        numbers["pages"] = int(operands.table.shape[1]) if plan.page else 0
        arrays = {name: name for name in names} | ({"lse": "lse"} if plan.lse else {})
        if plan.packed:
            arrays |= {"q_ends": "q_ends", "k_ends": "k_ends"}
        elif plan.lengths:
            arrays |= {"k_ends": "k_lengths"}
        if plan.page:
            arrays |= {"table": "table"}
        numbers |= dict.fromkeys({"lse", "q_ends", "k_ends", "table"} - arrays.keys())
        kernel = kernel_of(plan)
        return [KernelLaunch(kernel, blocks * lines, plan.threads, {}, arrays, numbers, programmatic=False)]
