"""Threads together: clusters, barriers of threads, votes of one, registers, dependent grids."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I32, IntegerAttr, UnitAttr, i1, i32, i128
from xdsl.irdl import (
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from warploom.nvvm.dialect.copies import stated
from warploom.nvvm.dialect.operation import Operation
from warploom.nvvm.dialect.pieces import At, Code, Constant, Local, Piece, Statement, pointer, space_of
from warploom.nvvm.dialect.vocabulary import CancelQuery, GridAction, RegisterAction

_ALIGNED = "aligned"


def _aligned(flag: UnitAttr | None) -> dict[str, str]:
    return {} if flag is None else {_ALIGNED: _ALIGNED}


@irdl_op_definition
class ClusterArrive(Operation):
    """Arrives at the barrier of the cluster."""

    name = "nvvm.cluster.arrive"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.cluster_arrive",)
    aligned = opt_prop_def(UnitAttr)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, _aligned(self.aligned), {})])


@irdl_op_definition
class ClusterArriveRelaxed(Operation):
    """Arrives at the barrier of the cluster, and orders nothing."""

    name = "nvvm.cluster.arrive.relaxed"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.cluster_arrive",)
    aligned = opt_prop_def(UnitAttr)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        words = {"sem": "relaxed", **_aligned(self.aligned)}
        return Code([Statement(self.FORMS, words, {})])


@irdl_op_definition
class ClusterWait(Operation):
    """Waits for every thread of the cluster to arrive."""

    name = "nvvm.cluster.wait"
    FORMS: ClassVar[tuple[str, ...]] = ("barrier.cluster_wait",)
    aligned = opt_prop_def(UnitAttr)
    assembly_format = "attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, _aligned(self.aligned), {})])


@irdl_op_definition
class Mapa(Operation):
    """The address of a variable in the shared memory of a CTA of the cluster."""

    name = "nvvm.mapa"
    FORMS: ClassVar[tuple[str, ...]] = ("memory.mapa",)
    a = operand_def(pointer(0, 3))
    b = operand_def(i32)
    res = result_def(pointer(0, 7))
    assembly_format = "$a `,` $b attr-dict `:` type($a) `->` type($res)"

    def check(self) -> None:
        if (space_of(self.a), space_of(self.res)) not in {("", ""), ("shared", "shared::cluster")}:
            raise self.refuse(
                "maps generic addresses to generic ones, and shared ones to those of the cluster"
            )

    def code(self) -> Code:
        operands: dict[str, Piece] = {"d": self.res, "a": self.a, "b": self.b}
        words = {"space": space_of(self.res), "type": "u64"}
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class ElectSync(Operation):
    """Chooses one of the warp's lanes that a mask names: all of them where there is none."""

    name = "nvvm.elect.sync"
    FORMS: ClassVar[tuple[str, ...]] = ("warp.elect",)
    membermask = opt_operand_def(i32)
    pred = result_def(i1)
    assembly_format = "($membermask^)? attr-dict `->` type(results)"

    def code(self) -> Code:
        mask: Piece = -1 if self.membermask is None else Constant(self.membermask)
        operands: dict[str, Piece] = {"d": Local("leader", "b32"), "p": self.pred, "membermask": mask}
        return Code([Statement(self.FORMS, {}, operands)])


@irdl_op_definition
class SetMaxRegister(Operation):
    """Takes registers, or gives them up."""

    name = "nvvm.setmaxregister"
    FORMS: ClassVar[tuple[str, ...]] = ("control.setmaxnreg",)
    regCount = prop_def(IntegerAttr[I32])
    action = prop_def(RegisterAction)
    assembly_format = "$action $regCount attr-dict"

    def check(self) -> None:
        count = self.regCount.value.data
        if count % 8:
            raise self.refuse("new register size must be multiple of 8")
        if not 24 <= count <= 256:
            raise self.refuse("new register size must be in between 24 to 256")

    def code(self) -> Code:
        action = {"increase": "inc", "decrease": "dec"}[self.action.data]
        return Code([Statement(self.FORMS, {"action": action}, {"imm_reg_count": self.regCount.value.data})])


@irdl_op_definition
class Griddepcontrol(Operation):
    """Waits for the grids before this one, or lets those after it begin."""

    name = "nvvm.griddepcontrol"
    FORMS: ClassVar[tuple[str, ...]] = ("control.griddepcontrol",)
    kind = prop_def(GridAction)
    assembly_format = "$kind attr-dict"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {"action": self.kind.data}, {})])


@irdl_op_definition
class BarWarpSync(Operation):
    """Brings the lanes of a warp that a mask names together."""

    name = "nvvm.bar.warp.sync"
    FORMS: ClassVar[tuple[str, ...]] = ("warp.bar",)
    mask = operand_def(i32)
    assembly_format = "$mask attr-dict `:` type($mask)"

    def code(self) -> Code:
        return Code([Statement(self.FORMS, {}, {"membermask": self.mask})])


# Launches cancelled -----------------------------------------------------------------------------------------


@irdl_op_definition
class TryCancel(Operation):
    """Asks to take over the work of a cluster that has not begun."""

    name = "nvvm.clusterlaunchcontrol.try.cancel"
    FORMS: ClassVar[tuple[str, ...]] = ("cluster_launch.try_cancel",)
    multicast = opt_prop_def(UnitAttr)
    smemAddress = operand_def(pointer(3))
    mbarrier = operand_def(pointer(3))
    assembly_format = "(`multicast` $multicast^ `,`)? $smemAddress `,` $mbarrier attr-dict"

    def code(self) -> Code:
        words = {"space": stated(space_of(self.smemAddress))}
        if self.multicast is not None:
            words["multicast"] = "multicast::cluster::all"
        operands: dict[str, Piece] = {"addr": At(self.smemAddress), "mbar": At(self.mbarrier)}
        return Code([Statement(self.FORMS, words, operands)])


@irdl_op_definition
class QueryCancel(Operation):
    """Asks whether a launch was cancelled, and which CTA was its first."""

    name = "nvvm.clusterlaunchcontrol.query.cancel"
    FORMS: ClassVar[tuple[str, ...]] = ("cluster_launch.is_canceled", "cluster_launch.first_cta_coordinate")
    query_type = prop_def(CancelQuery)
    try_cancel_response = operand_def(i128)
    res = result_def(eq(i1) | eq(i32))
    assembly_format = "`query` `=` $query_type `,` $try_cancel_response attr-dict `:` type($res)"

    def check(self) -> None:
        expected = i1 if self.query_type.data == "is_canceled" else i32
        if self.res.type != expected:
            raise self.refuse(f"{self.query_type.data} query type returns an {expected}")

    def code(self) -> Code:
        response = self.try_cancel_response
        if self.query_type.data == "is_canceled":
            asked: dict[str, Piece] = {"p": self.res, "response": response}
            words = {"query": "is_canceled", "type": "b128"}
            return Code([Statement(("cluster_launch.is_canceled",), words, asked)])
        query = f"get_first_ctaid::{self.query_type.data[-1]}"
        found: dict[str, Piece] = {"d": self.res, "response": response}
        return Code(
            [Statement(("cluster_launch.first_cta_coordinate",), {"query": query, "type": "b128"}, found)]
        )
