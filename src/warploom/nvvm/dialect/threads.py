"""Thread coordination: barriers of clusters and warps, elections, register counts, grids, launches."""

from warploom.isa.instructions import barrier, cluster_launch, control, memory, warp
from warploom.nvvm.dialect.lowering import Immediate, Lowering, Temporary
from warploom.nvvm.dialect.operation import Operation, operation

ClusterArrive = operation(
    "nvvm.cluster.arrive(aligned?: unit)", "Arrival at the barrier of the cluster.", barrier.CLUSTER_ARRIVE
)
ClusterArriveRelaxed = operation(
    "nvvm.cluster.arrive.relaxed(aligned?: unit)",
    "Arrival at the barrier of the cluster that orders no memory accesses.",
    barrier.CLUSTER_ARRIVE,
    words={"sem": "relaxed"},
)
ClusterWait = operation(
    "nvvm.cluster.wait(aligned?: unit)",
    "Wait until every thread of the cluster has arrived at the cluster's barrier.",
    barrier.CLUSTER_WAIT,
)
Mapa = operation(
    "nvvm.mapa(a: ptr0|ptr3, b: i32) -> res as d in space: ptr0|ptr7",
    "Address of a shared variable in another CTA of the cluster.",
    memory.MAPA,
    syntax="$a `,` $b attr-dict `:` type($a) `->` type($res)",
    words={"type": "u64"},
    rules="""
        a=generic res!=generic: a is generic and the result is in shared::cluster; expected a generic result
        a!=generic res=generic: a is in shared memory and the result is generic; expected a result in shared::cluster
    """,
)


def _lower_election(op: Operation) -> Lowering:
    mask = Immediate(op.value("membermask")) if op.has("membermask") else -1
    return op.instruction(d=Temporary("leader", "b32"), membermask=mask)


ElectSync = operation(
    "nvvm.elect.sync(membermask?: i32) -> pred as p: i1",
    "Election of one lane among the lanes of a mask, or among all lanes without a mask.",
    warp.ELECT,
    syntax="($membermask^)? attr-dict `->` type(results)",
    lower=_lower_election,
)


def _register_count_error(op: Operation) -> str:
    count = op.number("regCount")
    if count % 8:
        return "new register size must be multiple of 8"
    return "" if 24 <= count <= 256 else "new register size must be in between 24 to 256"


SetMaxRegister = operation(
    "nvvm.setmaxregister(regCount as imm_reg_count: int32, action: action)",
    "Change of the number of registers per thread of a warpgroup to `regCount`, a multiple of 8 from 24 to 256.",
    control.SETMAXNREG,
    syntax="$action $regCount attr-dict",
    rules=[_register_count_error],
)
Griddepcontrol = operation(
    "nvvm.griddepcontrol(kind as action: grid_dep_action)",
    "Wait for prerequisite grids, or permission for dependent grids to launch.",
    control.GRIDDEPCONTROL,
    syntax="$kind attr-dict",
)
BarWarpSync = operation(
    "nvvm.bar.warp.sync(mask as membermask: i32)",
    "Barrier for the lanes of a mask.",
    warp.WARP_SYNC,
    syntax="$mask attr-dict `:` type($mask)",
)
TryCancel = operation(
    "nvvm.clusterlaunchcontrol.try.cancel(smemAddress as addr in space: ptr3, mbarrier as mbar: ptr3,"
    " multicast?: unit)",
    "Request to cancel the launch of a cluster that has not started.",
    cluster_launch.TRY_CANCEL,
    syntax="(`multicast` $multicast^ `,`)? $smemAddress `,` $mbarrier attr-dict",
)


def _lower_query(op: Operation) -> Lowering:
    query, result = op.text("query_type"), op.value("res")
    if query == "is_canceled":
        return op.instruction({"query": query}, p=result)
    return op.instruction({"query": f"get_first_ctaid::{query[-1]}"}, d=result)


QueryCancel = operation(
    "nvvm.clusterlaunchcontrol.query.cancel(try_cancel_response as response: i128,"
    " query_type: cluster_launch_control_query_type) -> res: i1|i32",
    "Query of a cancellation response: its success, or a coordinate of the cancelled cluster's first CTA.",
    *(cluster_launch.IS_CANCELED, cluster_launch.FIRST_CTA_COORDINATE),
    syntax="`query` `=` $query_type `,` $try_cancel_response attr-dict `:` type($res)",
    words={"type": "b128"},
    rules="""
        query_type=is_canceled res!=i1: {query_type} query type returns an i1
        query_type!=is_canceled res!=i32: {query_type} query type returns an i32
    """,
    lower=_lower_query,
)
