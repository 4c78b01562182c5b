"""Sites and texts of mutants of compiled kernels."""

from __future__ import annotations

import re
from itertools import count

import pytest
from observe.sanitize.tensor.kernels import KERNELS

import warploom as wl
from warploom_lab.mutants.kinds import KINDS
from warploom_lab.mutants.program import Kernel

TEXTS = {kernel.name: kernel.text for kernel in KERNELS}


@pytest.mark.parametrize("name", TEXTS)
def test_mutants_are_legal_kernels_with_the_lines_of_the_original(name: str) -> None:
    kernel = Kernel(TEXTS[name], "k")
    for kind in KINDS.values():
        for edits in kind.find(kernel):
            text = kernel.edited(edits)
            assert text != kernel.text, kind.name
            assert text.count("\n") == kernel.text.count("\n"), kind.name
            assert kind.name == "mixed-groups" or wl.check(text).ok, (kind.name, str(wl.check(text)))


def test_most_kinds_have_sites() -> None:
    found = {kind.name for text in TEXTS.values() for kind in KINDS.values() if list(kind.find(Kernel(text, "k")))}
    # The kernels have no bulk groups and no block scales.
    assert set(KINDS) - found <= {"no-bulk-wait", "no-bulk-commit", "shifted-scales"}


def test_a_register_that_is_set_to_a_number_is_constant() -> None:
    text = """
.version 8.8
.target sm_100a
.address_size 64
.entry k() {
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    mov.b32 %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, %tid.x;
    setp.ne.u32 %p2, %r2, 0;
    ret;
}
"""
    kernel = Kernel(text, "k")
    last = kernel.sites[-1]
    first, second = (kernel.sites[k].instruction.operands[0] for k in (1, 3))
    assert kernel.is_constant(first, last)
    assert not kernel.is_constant(second, last)


@pytest.mark.parametrize("name", TEXTS)
def test_debug_labels_do_not_change_the_mutants(name: str) -> None:
    numbers = count()
    labelled = re.sub(r"^    (?=[a-z@])", lambda _: f"    $L__tmp{next(numbers)}: ", TEXTS[name], flags=re.MULTILINE)
    assert next(numbers) > 10
    kernel, other = Kernel(TEXTS[name], "k"), Kernel(labelled, "k")
    assert [site.region for site in other.sites] == [site.region for site in kernel.sites]
    jumps = re.sub(r"\$L__tmp(\d+): ", r"\g<0>@%p0 bra $L__tmp\1; ", labelled)
    assert len({site.region for site in Kernel(jumps, "k").sites}) > len({site.region for site in kernel.sites})
