"""The hints of the sanitizer: the edits that they name remove the findings."""

from __future__ import annotations

import pytest
from observe.sanitize.applying import RIGHT, FaultyMutant, change_of, faulty_mutants, hint_of

# A mutant of each kind of edit: insertions at both ends of a place, waits, fences, and edits that need registers.
SAMPLE = {
    "tma_store:drop-bulk-wait:0": "removed",
    "tma_store:drop-proxy-fence:0": "removed",
    "cp_async_mma:drop-cp-async-wait:0": "removed",
    "wgmma_registers:drop-wgmma-fence:0": "removed",
    "reduction:drop-cta-barrier:0": "removed",
    "dsmem_exchange:drop-cluster-wait:0": "restored",
    "bulk_in_place:more-arrivals:0": "restored",
    "tma_ring:fence-of-other-space:0": "removed",
    "publish_to_bulk:poll-volatile:0": "restored",
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


def test_the_change_of_a_removed_instruction_has_the_lines_around_it() -> None:
    change = change_of("a;\nbar.sync 0;\nb;\n", "a;\nb;\n")
    assert change.instructions == ("bar.sync",)
    assert change.lines == {1, 2}


def test_the_change_of_a_moved_instruction_has_the_instructions_that_it_passes() -> None:
    change = change_of("a;\nb;\nc;\nd;\n", "a;\nc;\nb;\nd;\n")
    assert set(change.instructions) == {"b", "c"}
    assert change.lines == {2, 3}
