from __future__ import annotations

import numpy as np
import pytest
from isa.binding import legality_tests

import warploom as wl

TRY = "clusterlaunchcontrol.try_cancel.async"
QUERY = "clusterlaunchcontrol.query_cancel"
BYTES = "mbarrier::complete_tx::bytes"
LEGAL = {
    f"{TRY}.{BYTES}.b128 [%rd1], [%rd2];": "cluster_launch.try_cancel",
    f"{TRY}.shared::cta.{BYTES}.multicast::cluster::all.b128 [%r1], [%r2];": "cluster_launch.try_cancel",
    f"{QUERY}.is_canceled.pred.b128 %p1, %rq1;": "cluster_launch.is_canceled",
    f"{QUERY}.get_first_ctaid.v4.b32.b128 {{%r1,%r2,%r3,_}}, %rq1;": "cluster_launch.first_cta",
    f"{QUERY}.get_first_ctaid::z.b32.b128 %r1, %rq1;": "cluster_launch.first_cta_coordinate",
}

REFUSED = {
    f"{TRY}.shared::cluster.{BYTES}.b128 [%r1], [%r2];": "cluster_launch.try_cancel/space",
    f"{TRY}.shared::cta.b128 [%r1], [%r2];": f"cluster_launch.try_cancel/{BYTES}",
    f"{TRY}.{BYTES}.b128 [%rd1];": "cluster_launch.try_cancel/operands",
    f"{QUERY}.get_first_ctaid.v4.b32.b128 {{%r1,%r2,%r3}}, %rq1;": "cluster_launch.first_cta/d",
    f"{QUERY}.get_first_ctaid::w.b32.b128 %r1, %rq1;": "cluster_launch.first_cta_coordinate/query",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


HEAD = ".version 9.0\n.target sm_100a\n.address_size 64\n"


def _persistent(size: int, *, multicast: bool = False) -> str:
    """A kernel that counts each CTA position of its grid in `out`, and takes over clusters that have not started.

    `owners` counts the positions that a CTA took over from another cluster.
    """
    how = ".multicast::cluster::all" if multicast else ""
    lead = "setp.eq.and.u32 %p5, %r9, 0, %p1;" if multicast else "mov.pred %p5, %p1;"
    return f"""{HEAD}
.visible .entry k(.param .u64 out, .param .u64 owners)
{{
    .reg .u32 %r<16>;
    .reg .u64 %rd<8>;
    .reg .b128 %q;
    .reg .pred %p<8>;
    .shared .align 16 .b8 response[16];
    .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [owners];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r9, %cluster_ctarank;
    mov.u32 %r3, 0;
    setp.eq.u32 %p1, %r1, 0;
    {lead}
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
work:
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    @%p5 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{how}.b128 [response], [bar];
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd3, %rd1;
    @%p1 red.global.add.u32 [%rd3], 1;
again:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], %r3;
    @!%p2 bra again;
    xor.b32 %r3, %r3, 1;
    ld.shared.b128 %q, [response];
    fence.proxy.async.shared::cta;
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
    @!%p3 bra done;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {{%r4, %r5, %r6, _}}, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r7, %q;
    add.u32 %r2, %r4, {"%r9" if size > 1 else "0"};
    sub.u32 %r8, %r7, %r4;
    add.u32 %r8, %r8, 1;
    @%p1 red.global.add.u32 [%rd2], %r8;
    bra work;
done:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    ret;
}}
"""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:0", "random:5"])
@pytest.mark.parametrize(
    "options", [{}, {"sanitize": True, "trace": True}, {"workers": 2}], ids=["", "observed", "workers"]
)
def test_each_cta_runs_once(schedule: str, options: dict[str, object]) -> None:
    out, owners = np.zeros(37, np.uint32), np.zeros(1, np.uint32)
    run = wl.launch(_persistent(1), grid=37, block=64, args=[out, owners], schedule=schedule, **options)
    assert (out == 1).all()
    assert owners[0] > 0
    assert not run.findings
    assert run.stats.ctas == 37 - owners[0]


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:0", "random:5"])
def test_a_response_for_all_ctas_of_a_cluster(schedule: str) -> None:
    out, owners = np.zeros(40, np.uint32), np.zeros(1, np.uint32)
    options = {"grid": 40, "block": 32, "cluster": 4, "schedule": schedule, "sanitize": True}
    run = wl.launch(_persistent(4, multicast=True), args=[out, owners], **options)
    assert (out == 1).all()
    assert owners[0] > 0
    assert owners[0] % 4 == 0
    assert not run.findings


def test_the_positions_of_a_grid_with_three_dimensions() -> None:
    text = (
        _persistent(1)
        .replace("mov.u32 %r2, %ctaid.x;", "mov.u32 %r2, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;")
        .replace(
            "mul.wide.u32 %rd3, %r2, 4;",
            "mad.lo.u32 %r10, %r6, 3, %r5; mad.lo.u32 %r10, %r10, 4, %r2; mul.wide.u32 %rd3, %r10, 4;",
        )
    )
    out, owners = np.zeros(24, np.uint32), np.zeros(1, np.uint32)
    wl.launch(text, grid=(4, 3, 2), block=32, args=[out, owners])
    assert (out == 1).all()


def test_a_response_is_late() -> None:
    """Without a wait, the response has not arrived under the lazy schedule."""
    text = _persistent(1).replace("@!%p2 bra again;", "")
    out, owners = np.zeros(16, np.uint32), np.zeros(1, np.uint32)
    wl.launch(text, grid=16, block=32, args=[out, owners], schedule="lazy")
    assert owners[0] == 0
