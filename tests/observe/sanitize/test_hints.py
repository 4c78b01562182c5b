"""The hints of the sanitizer: the edits that they name remove the findings."""

from __future__ import annotations

import numpy as np
import pytest
from observe.sanitize.applying import RIGHT, FaultyMutant, faulty_mutants, hint_of

import warploom as wl

# A mutant of each kind of edit.
SAMPLE = {
    "tma_store:drop-bulk-wait:0": "removed",
    "tma_store:drop-proxy-fence:0": "removed",
    "cp_async_mma:drop-cp-async-wait:0": "removed",
    "wgmma_registers:drop-wgmma-fence:0": "removed",
    "reduction:drop-cta-barrier:0": "removed",
    "reduction:barrier-in-divergence:0": "removed",
    "dsmem_exchange:drop-cluster-wait:0": "removed",
    "bulk_in_place:more-arrivals:0": "removed",
    "double_buffer:drop-mbarrier-init:2": "removed",
    "double_buffer:init-twice:0": "removed",
    "double_buffer:drop-expected-bytes:0": "removed",
    "double_buffer:expect-fewer-bytes:0": "removed",
    "double_buffer:acquire-to-relaxed:1": "removed",
    "wgmma_registers:drop-parameter:0": "removed",
    "tma_wgmma:wrong-descriptor-sbo:0": "removed",
    "named_barriers:wrong-barrier-count:2": "removed",
    "tma_ring:fence-of-other-space:0": "removed",
    "tma_ring:all-threads-lead:2": "removed",
    "cluster_reduce:read-above-poll:0": "removed",
    "publish_to_bulk:poll-volatile:0": "removed",
    "stream_k:poll-once:0": "removed",
    "stream_k:lanes-outside-the-mask:0": "removed",
    "stream_k:store-below-barrier:0": "removed",
    "look_back:load-of-read-only-data:0": "removed",
    "look_back:flag-weak:0": "removed",
    "look_back:scope-of-own-cluster:0": "removed",
    "mailbox:initialise-behind-barrier:1": "removed",
    "mailbox:wait-once:0": "removed",
    "register_pool:register-change-of-two-sizes:0": "removed",
    "multicast_pair:expect-half:0": "removed",
}


@pytest.fixture(scope="module")
def mutants() -> dict[str, FaultyMutant]:
    kinds = dict.fromkeys(tuple(key.split(":")[:2]) for key in SAMPLE)
    return {mutant.name: mutant for kernel, kind in kinds for mutant in faulty_mutants(kernel, kind)}


@pytest.mark.parametrize("name", SAMPLE)
def test_the_edit_of_a_hint_removes_the_finding(name: str, mutants: dict[str, FaultyMutant]) -> None:
    hint = hint_of(mutants[name])
    assert hint is not None
    assert hint[1] == SAMPLE[name]
    assert hint[1] in RIGHT


def test_no_hint_names_another_phase_of_an_mbarrier_without_arrivals() -> None:
    text = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.shared .align 8 .b64 bar;
.reg .pred %p<2>;
mbarrier.init.shared.b64 [bar], 1;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0;
@!%p0 bra WAIT;
ret;
}
"""
    report = wl.sanitize(text, grid=1, block=1, args=[np.zeros(1, np.uint32)])
    (found,) = report.findings
    assert found.code == "sanitize.deadlock"
    assert found.hint is not None
    assert "replace" not in found.hint
