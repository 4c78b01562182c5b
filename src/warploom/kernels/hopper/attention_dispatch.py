"""Grid and arguments of the Hopper attention kernel."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from warploom.diagnostics import UsageError
from warploom.kernels.attention_launch import LOG2_E, KernelLaunch, line_numbers
from warploom.kernels.attention_plan import SPAN
from warploom.kernels.attention_problem import AttentionOperands, AttentionProblem
from warploom.kernels.hopper.attention import attention
from warploom.kernels.hopper.attention_plan import DECODE_ROWS, AttentionPlan, decode_plan, plan_for
from warploom.kernels.hopper.decode import decode
from warploom.kernels.plan import size_of
from warploom.layout import TensorMap, strided

_SHORT = 512  # keys up to which one CTA computes a line as fast as several
_L2_PROMOTION = 256  # bytes that L2 fetches at once


def hopper_attention(problem: AttentionProblem, multiprocessors: int) -> HopperAttention | HopperDecode:
    """Return the launches for a problem on a GPU with `multiprocessors` multiprocessors."""
    sharing, fields = problem.sharing, problem.plan_fields
    is_short = size_of(problem.type) == 1  # `decode` has no elements of 8 bits
    if problem.page and is_short:
        raise UsageError(f"K and V are pages of {problem.type}; expected pages of bf16 or f16", code="kernels.type")
    few = problem.q_tokens * sharing <= DECODE_ROWS and not (problem.packed or is_short)
    lines = problem.heads_kv * problem.batch
    if problem.page and not few:
        rows = problem.q_tokens * sharing
        message = (
            f"{problem.q_tokens} tokens of Q and {sharing} heads for a head of K are {rows} rows; expected at most"
        )
        raise UsageError(f"{message} {DECODE_ROWS} with pages", code="kernels.shape")
    if problem.page or (few and lines < multiprocessors and problem.k_tokens > _SHORT):
        plan = decode_plan(problem.type, problem.head, problem.head_v, sharing, problem.page, **fields)
        splits = min(max(1, multiprocessors // lines), ceil(problem.k_tokens / plan.keys))
        return HopperDecode(problem, plan, multiprocessors, splits)
    plan = plan_for(
        problem.type, problem.head, problem.head_v, problem.k_tokens, scaled=problem.scale_strides is not None, **fields
    )
    return HopperAttention(problem, plan, multiprocessors)


@dataclass(frozen=True, slots=True)
class HopperAttention:
    """Launch of the kernel `attention`. A line is a head of one sequence."""

    problem: AttentionProblem
    plan: AttentionPlan
    multiprocessors: int
    words = 0

    def launches(self, operands: AttentionOperands) -> list[KernelLaunch]:
        """Return the launch for operands that include the results."""
        problem, plan, layout = self.problem, self.plan, strided(operands.out)
        blocks, lines = ceil(problem.most_rows / plan.rows), problem.heads * problem.batch
        numbers = line_numbers(problem, 1, blocks)
        numbers |= {"out_token": layout.strides[-3], "out_head": layout.strides[-2]}
        arrays = {"lse": "lse"} if plan.lse else {}
        if plan.packed:
            arrays |= {"out_start": "out", "q_ends": "q_ends", "k_ends": "k_ends"}
        elif plan.lengths:
            arrays |= {"k_ends": "k_lengths"}
        arrays |= {name: name for name in ("q_scale", "k_scale", "v_scale") if getattr(operands, name) is not None}
        numbers |= dict.fromkeys(
            {"lse", "out_start", "q_ends", "k_ends", "q_scale", "k_scale", "v_scale"} - arrays.keys()
        )
        batch, head = problem.scale_strides or (0, 0)
        numbers |= {"value_scale": problem.v_scale, "scale_batch": batch, "scale_head": head}
        boxes = {
            "q": (plan.rows, 128), "k": (plan.keys, plan.k_swizzle), "v": (plan.keys, plan.v_swizzle), "out": (64, 128),
        }  # fmt: skip
        maps = {name: self._map(getattr(operands, name), *box) for name, box in boxes.items()}
        grid = min(self.multiprocessors, blocks * lines)
        return [KernelLaunch(attention.at(plan=plan), grid, plan.threads, maps, arrays, numbers)]

    def _map(self, array: Any, rows: int, span: int) -> TensorMap:
        planes = array[None] if self.problem.packed else array
        return _map(planes.swapaxes(1, 2), (1, 1, rows, span // strided(array).itemsize), span)


@dataclass(frozen=True, slots=True)
class HopperDecode:
    """Launch of the kernel `decode`. The keys of a line are cut into `splits` parts."""

    problem: AttentionProblem
    plan: AttentionPlan
    multiprocessors: int
    splits: int

    @property
    def rows(self) -> int:
        """Rows of a line: all tokens and heads of Q that share a head of K."""
        return self.problem.q_tokens * self.plan.sharing

    @property
    def lines(self) -> int:
        """Number of heads of K of all sequences."""
        return self.problem.heads_kv * self.problem.batch

    @property
    def words(self) -> int:
        """Size of the sums and logarithms of all parts. Units: 32-bit words."""
        return self.lines * self.splits * self.rows * (self.problem.head_v + 1)

    def launches(self, operands: AttentionOperands) -> list[KernelLaunch]:
        """Return the launch for operands that include the results."""
        problem, plan, window = self.problem, self.plan, self.problem.window
        strides = strided(operands.out).strides
        numbers: dict[str, int | float | None] = {
            "q_tokens": problem.q_tokens, "k_tokens": problem.k_tokens, "heads": problem.heads_kv,
            "splits": self.splits, "left": window.left or 0, "right": window.right or 0, "lines": self.lines,
            "pages": 0 if operands.table is None else int(operands.table.shape[1]), "scale": problem.scale * LOG2_E,
            "out_batch": strides[0], "out_token": strides[1], "out_head": strides[2],
        }  # fmt: skip
        used = {"out": True, "lse": plan.lse, "k_lengths": plan.lengths, "table": plan.page > 0}
        arrays = {name: name for name, is_used in used.items() if is_used}
        numbers |= dict.fromkeys(used.keys() - arrays.keys())
        memory = {"sums": 0, "logarithms": 4 * self.lines * self.splits * self.rows * problem.head_v}
        heads = (problem.batch, problem.q_tokens, problem.heads_kv, plan.sharing, problem.head)
        box = (1, 1, plan.rows // plan.sharing, plan.sharing, SPAN)
        maps = {"q": _map(operands.q.reshape(heads).swapaxes(1, 2), box)}
        for name, array in (("k", operands.k), ("v", operands.v)):
            maps[name] = _map(array.swapaxes(1, 2), (1, 1, min(plan.keys, plan.page or plan.keys), SPAN))
        grid = min(self.multiprocessors, self.lines * self.splits)
        return [KernelLaunch(decode.at(plan=plan), grid, plan.threads, maps, arrays, numbers, memory)]


def _map(array: Any, box: tuple[int, ...], span: int = 128) -> TensorMap:
    return TensorMap.tiled(array, box, swizzle=span, l2_promotion=_L2_PROMOTION)
