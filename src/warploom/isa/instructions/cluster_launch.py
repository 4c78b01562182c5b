"""Cancellation of clusters that have not started, so that running clusters can take over their work.

Source: PTX ISA 9.7.13.18.
"""

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Cancellation, Issue
from warploom.isa.model.form import Form
from warploom.isa.model.operands import address, inp, out, pred_out
from warploom.isa.model.records import BulkCopy
from warploom.isa.model.semantics import Address, Bound, Value, Warps

_RESPONSE_BYTES = 16

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
    effects=(Issue(mbarrier="mbar"), Access("write", "addr", proxy="async"), Cancellation()),
    source="PTX ISA 9.7.13.18.1",
)
TRY_CANCEL.describe(
    "Requests the cancellation of a cluster that has not started, and writes the response to shared memory. Use"
    " it in persistent kernels to take over the work of that cluster.",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];",
)


def _shared(warps: Warps, i: Bound, operand: Address) -> NDArray[np.uint64]:
    """Return the shared addresses of an operand, which are generic addresses without `.space`."""
    addresses = warps.addresses(operand)
    return spread(warps, addresses if i.space else warps.from_generic("shared::cta", addresses))


@TRY_CANCEL.copy
def try_cancel(warps: Warps, i: Bound) -> BulkCopy:
    """Write the response to this CTA, or to all CTAs of the cluster. The mbarrier counts its bytes."""
    return BulkCopy(
        source_space="clusters",
        source=np.zeros((1, 1), np.uint64),
        destination_space="shared::cta",
        destination=_shared(warps, i, i.addr),
        bytes=np.full((1, 1), _RESPONSE_BYTES, np.uint32),
        completion="mbarrier",
        mbarrier=_shared(warps, i, i.mbar),
        multicast=np.full((warps.count, 32), 0xFFFF, np.uint16) if i.multicast else None,
    )


def _words(warps: Warps, response: Value) -> NDArray[np.uint32]:
    """Return the coordinates in a response, and 1 if a cluster is cancelled. Shapes: (4, warps, 32)."""
    words = np.ascontiguousarray(warps.read(response))[..., None].view(np.uint32)
    return words.transpose(2, 0, 1)


def _first_cta(warps: Warps, response: Value) -> NDArray[np.uint32]:
    """Return the coordinates in a response, or 0xFFFFFFFF if no cluster is cancelled.

    Shapes: (4, warps, 32).
    """
    words = _words(warps, response)
    return np.where(words[3] == 1, words, np.uint32(0xFFFFFFFF))


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


@IS_CANCELED.execute
def is_canceled(warps: Warps, i: Bound) -> None:
    warps.write(i.p, _words(warps, i.response)[3] == 1)


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


@FIRST_CTA.execute
def first_cta(warps: Warps, i: Bound) -> None:
    warps.write_vector(i.d, _first_cta(warps, i.response))


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


@FIRST_CTA_COORDINATE.execute
def first_cta_coordinate(warps: Warps, i: Bound) -> None:
    warps.write(i.d, _first_cta(warps, i.response)["xyz".index(i.query[-1])])
