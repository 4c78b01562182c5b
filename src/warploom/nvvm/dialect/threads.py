"""Thread coordination: barriers of clusters and warps, elections, register counts, grids, launches."""

from xdsl.dialects.builtin import I32, IntegerAttr, UnitAttr, i1, i32, i128
from xdsl.irdl import eq, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from warploom.isa.instructions import barrier, cluster_launch, control, memory, warp
from warploom.nvvm.dialect.attributes import CancelQuery, GridAction, RegisterAction
from warploom.nvvm.dialect.lowering import Immediate, Lowering, Temporary
from warploom.nvvm.dialect.operation import Operation, operation
from warploom.nvvm.dialect.types import pointer, space_of


class _ClusterBarrier(Operation):
    """Arrival or wait at the barrier of the cluster."""

    aligned = opt_prop_def(UnitAttr)


@operation("nvvm.cluster.arrive", barrier.CLUSTER_ARRIVE)
class ClusterArrive(_ClusterBarrier):
    """Arrival at the barrier of the cluster."""


@operation("nvvm.cluster.arrive.relaxed", barrier.CLUSTER_ARRIVE, words={"sem": "relaxed"})
class ClusterArriveRelaxed(_ClusterBarrier):
    """Arrival at the barrier of the cluster without a memory order."""


@operation("nvvm.cluster.wait", barrier.CLUSTER_WAIT)
class ClusterWait(_ClusterBarrier):
    """Wait until every thread of the cluster has arrived at the cluster's barrier."""


@operation("nvvm.mapa", memory.MAPA, words={"type": "u64"}, names={"res": "d"}, spaces={"space": "res"})
class Mapa(Operation):
    """Address of a shared variable in another CTA of the cluster."""

    a = operand_def(pointer(0, 3))
    b = operand_def(i32)
    res = result_def(pointer(0, 7))
    assembly_format = "$a `,` $b attr-dict `:` type($a) `->` type($res)"

    def check(self) -> None:
        if (space_of(self.a), space_of(self.res)) not in {("", ""), ("shared", "shared::cluster")}:
            raise self.error("maps generic addresses to generic ones, and shared ones to those of the cluster")


@operation("nvvm.elect.sync", warp.ELECT)
class ElectSync(Operation):
    """Election of one lane among the lanes of a mask, or among all lanes without a mask."""

    membermask = opt_operand_def(i32)
    pred = result_def(i1)
    assembly_format = "($membermask^)? attr-dict `->` type(results)"

    def lower(self) -> Lowering:
        mask = -1 if self.membermask is None else Immediate(self.membermask)
        return self.instruction(d=Temporary("leader", "b32"), p=self.pred, membermask=mask)


@operation("nvvm.setmaxregister", control.SETMAXNREG, names={"regCount": "imm_reg_count"})
class SetMaxRegister(Operation):
    """Increase or decrease of the register count of a warpgroup's threads."""

    regCount = prop_def(IntegerAttr[I32])
    action = prop_def(RegisterAction)
    assembly_format = "$action $regCount attr-dict"

    def check(self) -> None:
        count = self.regCount.value.data
        if count % 8:
            raise self.error("new register size must be multiple of 8")
        if not 24 <= count <= 256:
            raise self.error("new register size must be in between 24 to 256")


@operation("nvvm.griddepcontrol", control.GRIDDEPCONTROL, names={"kind": "action"})
class Griddepcontrol(Operation):
    """Wait for prerequisite grids, or permission for dependent grids to launch."""

    kind = prop_def(GridAction)
    assembly_format = "$kind attr-dict"


@operation("nvvm.bar.warp.sync", warp.WARP_SYNC, names={"mask": "membermask"})
class BarWarpSync(Operation):
    """Barrier for the lanes of a mask."""

    mask = operand_def(i32)
    assembly_format = "$mask attr-dict `:` type($mask)"


@operation(
    "nvvm.clusterlaunchcontrol.try.cancel",
    cluster_launch.TRY_CANCEL,
    names={"smemAddress": "addr", "mbarrier": "mbar"},
    spaces={"space": "smemAddress"},
)
class TryCancel(Operation):
    """Request to cancel the launch of a cluster that has not started."""

    multicast = opt_prop_def(UnitAttr)
    smemAddress = operand_def(pointer(3))
    mbarrier = operand_def(pointer(3))
    assembly_format = "(`multicast` $multicast^ `,`)? $smemAddress `,` $mbarrier attr-dict"


@operation(
    "nvvm.clusterlaunchcontrol.query.cancel",
    cluster_launch.IS_CANCELED,
    cluster_launch.FIRST_CTA_COORDINATE,
    words={"type": "b128"},
)
class QueryCancel(Operation):
    """Query of a cancellation response: its success, or a coordinate of the cancelled cluster's first CTA."""

    query_type = prop_def(CancelQuery)
    try_cancel_response = operand_def(i128)
    res = result_def(eq(i1) | eq(i32))
    assembly_format = "`query` `=` $query_type `,` $try_cancel_response attr-dict `:` type($res)"

    def check(self) -> None:
        expected = i1 if self.query_type.data == "is_canceled" else i32
        if self.res.type != expected:
            raise self.error(f"{self.query_type.data} query type returns an {expected}")

    def lower(self) -> Lowering:
        query, response = self.query_type.data, self.try_cancel_response
        if query == "is_canceled":
            return self.instruction({"query": query}, p=self.res, response=response)
        return self.instruction({"query": f"get_first_ctaid::{query[-1]}"}, d=self.res, response=response)
