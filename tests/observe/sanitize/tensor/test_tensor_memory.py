"""The sanitizer on kernels with tensor memory: correct ones, their mutants, and faults that users have reported."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from observe.sanitize.tensor.issues import ISSUES, Issue
from observe.sanitize.tensor.kernels import KERNELS, Kernel, Mutant, end, mutants

import warploom as wl
from warploom.diagnostics.edits import apply_edits

SCHEDULES = ("eager", "lazy", "random:0")
MUTANTS = mutants()


def findings(kernel: Kernel, text: str, schedule: str, enable: Sequence[str] = ()) -> tuple[wl.Diagnostic, ...]:
    """Return the findings of a kernel with another text."""
    return wl.sanitize(
        text, grid=kernel.cluster, cluster=kernel.cluster, block=kernel.threads, args=[np.zeros(8192, np.uint32)],
        schedules=(schedule,), enable=enable,
    ).findings  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_correct_kernel_has_no_finding(kernel: Kernel) -> None:
    for schedule in SCHEDULES:
        assert [str(each) for each in findings(kernel, kernel.text, schedule)] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_has_findings_of_its_rules_only(mutant: Mutant) -> None:
    for schedule in SCHEDULES:
        found = findings(mutant.kernel, mutant.text, schedule)
        assert found, schedule
        assert {each.code for each in found} <= set(mutant.rules), (schedule, [str(each) for each in found])


def test_a_mutant_has_one_finding() -> None:
    several = [
        mutant.name for mutant in MUTANTS for schedule in SCHEDULES
        if len(findings(mutant.kernel, mutant.text, schedule)) > 1
    ]  # fmt: skip
    # Without its wait, every later wait of this kernel has the wrong parity.
    assert all("relaxed" in name for name in several)


def test_the_mutants_are_of_many_kinds() -> None:
    kinds = {rule for mutant in MUTANTS for rule in mutant.rules[:1]}
    assert len(KERNELS) >= 10
    assert len(kinds) >= 12


def test_fixes_remove_the_findings() -> None:
    """The first fix of a finding on waits and fences makes the mutant correct."""
    fixed = 0
    for mutant in MUTANTS:
        if not {"sanitize.tensor/fence", "sanitize.tensor/load-wait", "sanitize.tensor/store-wait"} & set(mutant.rules):
            continue
        (found, *_) = findings(mutant.kernel, mutant.text, "eager")
        assert found.data is not None
        text = apply_edits(mutant.text, found.data["fixes"][0])
        assert [str(each) for each in findings(mutant.kernel, text, "eager")] == [], mutant.name
        fixed += 1
    assert fixed > 20


@pytest.mark.parametrize("issue", ISSUES, ids=lambda issue: issue.name)
def test_a_reported_fault_is_found(issue: Issue) -> None:
    for schedule in SCHEDULES:
        assert [str(each) for each in findings(issue.kernel, issue.kernel.text, schedule)] == []
        found = findings(issue.kernel, issue.faulty, schedule)
        assert {each.code for each in found} & set(issue.rules), (schedule, [str(each) for each in found])


def test_kernels_without_fences_are_reported_on_request() -> None:
    kernel = KERNELS[0]
    text = "\n".join(line for line in kernel.text.split("\n") if "tcgen05.fence" not in line)
    assert findings(kernel, text, "eager") == ()
    found = findings(kernel, text, "eager", enable=["tensor/no-fence"])
    assert [(each.code, each.severity.value) for each in found] == [("sanitize.tensor/no-fence", "warning")]


def test_a_deadlock_names_the_owners_of_the_columns() -> None:
    kernel = next(each for each in KERNELS if each.name == "rewritten")
    second = "    @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;\n"
    (found,) = findings(kernel, kernel.text.replace(end(32), second + end(32)), "eager")
    assert found.code == "sanitize.deadlock"
    assert "512 columns of tensor memory, but the CTA has 480 left; warp 0 holds columns 0 to 31" in str(found)


def test_scale_factors_are_not_sums() -> None:
    """A second multiplication takes its scale factors from the columns of the accumulators."""
    (issue,) = (each for each in ISSUES if each.name == "cutlass#2707")
    (first,) = (line for line in issue.kernel.text.split("\n") if "scale_vec" in line)
    second = first.replace("[%r50]", "[%r7]")
    assert second != first
    (found,) = findings(issue.kernel, issue.kernel.text.replace(first, f"{first}\n{second}"), "eager")
    assert found.code == "sanitize.unwritten/tensor"
    assert "the scale factors of A" in found.message
    assert "512 words contain results of a multiplication" in found.message
