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

_RESPONSE = inp("type")

IS_CANCELED = Form(
    name="cluster_launch.is_canceled",
    syntax="clusterlaunchcontrol.query_cancel.query.pred.type  p, response;",
    rows="query type ptx target\nis_canceled b128 8.6 sm_100",
    operands={"p": pred_out(sink=False), "response": _RESPONSE},
    source="PTX ISA 9.7.13.18.2",
)

FIRST_CTA = Form(
    name="cluster_launch.first_cta",
    syntax="clusterlaunchcontrol.query_cancel.query.vec.b32.type  d, response;",
    rows="query vec type ptx target\nget_first_ctaid v4 b128 8.6 sm_100",
    operands={"d": out("b32", "vec"), "response": _RESPONSE},
    source="PTX ISA 9.7.13.18.2",
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
