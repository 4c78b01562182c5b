from __future__ import annotations

import pytest
from isa.binding import form_of, refusal

from warploom.isa.model.form import forms

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


@pytest.mark.parametrize(("text", "form"), LEGAL.items())
def test_legal(text: str, form: str) -> None:
    assert form_of(text) == form


@pytest.mark.parametrize(("text", "code"), REFUSED.items())
def test_refused(text: str, code: str) -> None:
    assert refusal(text).code == code


def test_nothing_is_executed() -> None:
    assert {form.is_executable for form in forms() if form.family == "cluster_launch"} == {False}
