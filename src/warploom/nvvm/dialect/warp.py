"""Exchange of values between the lanes of a warp: shuffles, votes, matches and reductions."""

from dataclasses import replace

from warploom.isa.instructions import warp
from warploom.nvvm.dialect.lowering import Element, Lowering
from warploom.nvvm.dialect.operation import Operation, operation

_TYPES = {"add": "s32", "max": "s32", "min": "s32", "umax": "u32", "umin": "u32", "fmax": "f32", "fmin": "f32"}


def _with_flag(op: Operation) -> dict[str, Element]:
    """Return the value and the predicate that the result contains, by the names of the PTX operands."""
    return {"d": Element(op.value("res"), 0), "p": Element(op.value("res"), 1)}


def _shuffle_error(op: Operation) -> str:
    has_flag = op.has("return_value_and_is_valid")
    expected = f"!llvm.struct<({op.text('val')}, i1)>" if has_flag else op.text("val")
    if op.text("res") == expected:
        return ""
    stated = "with" if has_flag else "without"
    return f"returns {op.text('res')}; expected {expected} {stated} return_value_and_is_valid"


Shuffle = operation(
    "nvvm.shfl.sync(thread_mask as membermask: i32, val as a: i32|f32, offset as b: i32, mask_and_clamp as c: i32,"
    " kind as mode: shfl_kind, return_value_and_is_valid?: unit) -> res as d: i32|f32|i32&i1|f32&i1",
    "Value of another lane."
    " With `return_value_and_is_valid`, the result also contains true if the source lane is in range.",
    warp.SHFL_SYNC,
    syntax="$kind $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)",
    rules=[_shuffle_error],
    lower=lambda op: op.instruction(**_with_flag(op) if op.has("return_value_and_is_valid") else {}),
)
Vote = operation(
    "nvvm.vote.sync(mask as membermask: i32, pred as a: i1, kind as mode: vote_sync_kind) -> res as d: i32|i1",
    "Combination of the predicates of the lanes of a mask.",
    warp.VOTE_SYNC,
    syntax="$kind $mask `,` $pred attr-dict `->` type($res)",
    rules="""
        kind=ballot res!=i32: {kind} returns {res}; expected i32
        kind!=ballot res!=i1: {kind} returns {res}; expected i1
    """,
    lower=lambda op: op.instruction({"type": "b32" if op.text("kind") == "ballot" else "pred"}),
)


def _lower_match(op: Operation) -> Lowering:
    words = {"type": f"b{op.text('val')[1:]}"}
    if op.text("kind") == "any":
        return op.instruction(words)
    return Lowering([replace(op.template(words, **_with_flag(op)), forms=[warp.MATCH_ALL])])


Match = operation(
    "nvvm.match.sync(thread_mask as membermask: i32, val as a: i32|i64, kind: match_sync_kind) -> res as d: i32|i32&i1",
    "With `any`, mask of the lanes that have the same value as the executing lane."
    " With `all`, mask of all lanes and true if all values are equal, and otherwise 0 and false.",
    *(warp.MATCH_ANY, warp.MATCH_ALL),
    syntax="$kind $thread_mask `,` $val attr-dict `:` type($val) `->` type($res)",
    rules="""
        kind=any res!=i32: {kind} returns {res}; expected i32
        kind=all res=i32: {kind} returns {res}; expected !llvm.struct<(i32, i1)>
    """,
    lower=_lower_match,
)


def _reduction_error(op: Operation) -> str:
    kind = op.text("kind")
    expected = "f32" if kind.startswith("f") else "i32"
    if (op.text("val"), op.text("res")) != (expected, expected):
        return f"{kind} reduces {op.text('val')} to {op.text('res')}; expected {expected} to {expected}"
    return ""


Reduce = operation(
    "nvvm.redux.sync(val as a: i32|f32, mask_and_clamp as membermask: i32, kind: redux_kind, abs: bool = 0,"
    " nan as NaN: bool = 0) -> res as d: i32|f32",
    "Reduction of a value over the lanes of a mask. Each of these lanes receives the result.",
    *(warp.REDUX, warp.REDUX_FLOAT),
    syntax="$kind $val `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)",
    rules=[
        _reduction_error,
        """
        val=i32 abs: abs is true for i32; expected f32, or abs = false
        val=i32 nan: nan is true for i32; expected f32, or nan = false
        """,
    ],
    lower=lambda op: op.instruction({"op": op.text("kind").lstrip("fu"), "type": _TYPES.get(op.text("kind"), "b32")}),
)
