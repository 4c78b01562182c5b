"""Cancellation of clusters that have not started, so that running clusters can take over their work.

The emulator starts all clusters of a launch at once, and executes none of these instructions.

Source: PTX ISA 9.7.13.18.
"""

from warploom.isa.model.effects import Access, Issue
from warploom.isa.model.form import Form
from warploom.isa.model.operands import address, inp, out, pred_out

TRY_CANCEL = Form(
    name="cluster_launch.try_cancel",
    syntax="clusterlaunchcontrol.try_cancel.async{.space}.mbarrier::complete_tx::bytes{.multicast}.b128"
    "  [addr], [mbar];",
    rows="""
        space          multicast                ptx target
        -,shared::cta  -                        8.6 sm_100
        -,shared::cta  multicast::cluster::all  8.6 sm_100f,sm_110f,sm_120f
    """,
    operands={"addr": address(), "mbar": address()},
    effects=(Issue(mbarrier="mbar"), Access("write", "addr", proxy="async")),
    source="PTX ISA 9.7.13.18.1",
)
TRY_CANCEL.describe(
    "Requests the cancellation of a cluster that has not started, and writes the response to shared memory. Use"
    " it in persistent kernels to take over the work of that cluster.",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];",
)

_RESPONSE = inp("type")

IS_CANCELED = Form(
    name="cluster_launch.is_canceled",
    syntax="clusterlaunchcontrol.query_cancel.query.pred.type  p, response;",
    rows="query type ptx target\nis_canceled b128 8.6 sm_100",
    operands={"p": pred_out(sink=False), "response": _RESPONSE},
    source="PTX ISA 9.7.13.18.2",
)
IS_CANCELED.describe(
    "Returns true if a request has cancelled a cluster. Use it to end the loop of a persistent kernel.",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p0, %rq0;",
)

FIRST_CTA = Form(
    name="cluster_launch.first_cta",
    syntax="clusterlaunchcontrol.query_cancel.query.vec.b32.type  d, response;",
    rows="query vec type ptx target\nget_first_ctaid v4 b128 8.6 sm_100",
    operands={"d": out("b32", "vec"), "response": _RESPONSE},
    source="PTX ISA 9.7.13.18.2",
)
FIRST_CTA.describe(
    "Returns the grid position of the first CTA of the cancelled cluster. Use it as the next tile of a persistent"
    " kernel.",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r2, _}, %rq0;",
)

FIRST_CTA_COORDINATE = Form(
    name="cluster_launch.first_cta_coordinate",
    syntax="clusterlaunchcontrol.query_cancel.query.b32.type  d, response;",
    rows="""
        query                                                     type  ptx target
        get_first_ctaid::x,get_first_ctaid::y,get_first_ctaid::z  b128  8.6 sm_100
    """,
    operands={"d": out("b32"), "response": inp("type", allows=("braces",))},
    source="PTX ISA 9.7.13.18.2",
)
FIRST_CTA_COORDINATE.describe(
    "Returns one coordinate of the first CTA of the cancelled cluster. Use it if the kernel needs only one coordinate.",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r0, %rq0;",
)
