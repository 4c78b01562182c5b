"""Exchange of values between the lanes of a warp: shuffles, votes, matches and reductions."""

from dataclasses import replace

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, UnitAttr, f32, i1, i32, i64
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def
from xdsl.irdl.constraints import AttrSetConstraint

from warploom.isa.instructions import warp
from warploom.nvvm.dialect.attributes import MatchMode, Redux, ShuffleMode, VoteMode
from warploom.nvvm.dialect.intrinsic import IntrinsicOperation
from warploom.nvvm.dialect.lowering import Element, Lowering
from warploom.nvvm.dialect.operation import operation
from warploom.nvvm.dialect.types import with_flag

_VALUE = AttrSetConstraint.get(i32, f32)
_TYPES = {"add": "s32", "max": "s32", "min": "s32", "umax": "u32", "umin": "u32", "fmax": "f32", "fmin": "f32"}


@operation(
    "nvvm.shfl.sync",
    warp.SHFL_SYNC,
    names={"kind": "mode", "thread_mask": "membermask", "val": "a", "offset": "b", "mask_and_clamp": "c", "res": "d"},
)
class Shuffle(IntrinsicOperation):
    """Value of another lane, and optionally whether that lane is in range."""

    thread_mask = operand_def(i32)
    val = operand_def(_VALUE)
    offset = operand_def(i32)
    mask_and_clamp = operand_def(i32)
    kind = prop_def(ShuffleMode)
    return_value_and_is_valid = opt_prop_def(UnitAttr)
    res = result_def(AttrSetConstraint.get(i32, f32, with_flag(i32), with_flag(f32)))
    assembly_format = (
        "$kind $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)"
    )

    def check(self) -> None:
        has_flag = self.return_value_and_is_valid is not None
        expected = with_flag(self.val.type) if has_flag else self.val.type
        if self.res.type != expected:
            stated = "with" if has_flag else "without"
            raise self.error(f"returns {self.res.type}; expected {expected} {stated} return_value_and_is_valid")

    def lower(self) -> Lowering:
        if self.return_value_and_is_valid is None:
            return super().lower()
        return Lowering([self.declared(d=Element(self.res, 0), p=Element(self.res, 1))])

    def named(self, name: str) -> str:
        return name.replace(".i32", f".{self.val.type}")


@operation("nvvm.vote.sync", warp.VOTE_SYNC, names={"kind": "mode", "mask": "membermask", "pred": "a", "res": "d"})
class Vote(IntrinsicOperation):
    """Combination of the predicates of the lanes of a mask."""

    mask = operand_def(i32)
    pred = operand_def(i1)
    kind = prop_def(VoteMode)
    res = result_def(AttrSetConstraint.get(i32, i1))
    assembly_format = "$kind $mask `,` $pred attr-dict `->` type($res)"

    def check(self) -> None:
        expected = i32 if self.kind.data == "ballot" else i1
        if self.res.type != expected:
            raise self.error(f"{self.kind.data} returns {self.res.type}; expected {expected}")

    def lower(self) -> Lowering:
        return Lowering([self.declared({"type": "b32" if self.kind.data == "ballot" else "pred"})])


@operation(
    "nvvm.match.sync", warp.MATCH_ANY, warp.MATCH_ALL, names={"thread_mask": "membermask", "val": "a", "res": "d"}
)
class Match(IntrinsicOperation):
    """Mask of the lanes with the same value (any), or comparison of all lanes (all)."""

    thread_mask = operand_def(i32)
    val = operand_def(AttrSetConstraint.get(i32, i64))
    kind = prop_def(MatchMode)
    res = result_def(AttrSetConstraint.get(i32, with_flag(i32)))
    assembly_format = "$kind $thread_mask `,` $val attr-dict `:` type($val) `->` type($res)"

    def check(self) -> None:
        expected = with_flag(i32) if self.kind.data == "all" else i32
        if self.res.type != expected:
            raise self.error(f"{self.kind.data} returns {self.res.type}; expected {expected}")

    def lower(self) -> Lowering:
        words = {"type": "b64" if self.val.type == i64 else "b32"}
        if self.kind.data == "any":
            return Lowering([self.declared(words)])
        both = self.declared(words, d=Element(self.res, 0), p=Element(self.res, 1))
        return Lowering([replace(both, forms=[warp.MATCH_ALL])])


@operation(
    "nvvm.redux.sync",
    warp.REDUX,
    warp.REDUX_FLOAT,
    names={"val": "a", "mask_and_clamp": "membermask", "res": "d", "nan": "NaN"},
)
class Reduce(IntrinsicOperation):
    """Reduction of one value of each lane of a mask."""

    val = operand_def(_VALUE)
    mask_and_clamp = operand_def(i32)
    kind = prop_def(Redux)
    abs = prop_def(BoolAttr, default_value=IntegerAttr.from_bool(False))
    nan = prop_def(BoolAttr, default_value=IntegerAttr.from_bool(False))
    res = result_def(_VALUE)
    assembly_format = "$kind $val `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)"

    def check(self) -> None:
        kind = self.kind.data
        expected = f32 if kind[0] == "f" else i32
        if (self.val.type, self.res.type) != (expected, expected):
            raise self.error(f"{kind} reduces {self.val.type} to {self.res.type}; expected {expected}")
        for name, stated in (("abs", self.abs), ("nan", self.nan)):
            if expected == i32 and stated.value.data:
                raise self.error(f"{name} is true; expected false for {i32}")

    def lower(self) -> Lowering:
        kind = self.kind.data
        return Lowering([self.declared({"op": kind.lstrip("fu"), "type": _TYPES.get(kind, "b32")})])
