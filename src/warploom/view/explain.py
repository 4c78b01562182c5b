"""Pages of `explain` about rules, instructions, intrinsics, builtins and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean

if TYPE_CHECKING:
    from warploom.isa.model.form import Form

__all__ = ["Page", "explain"]


class Page(str):
    """Text in Markdown, which notebooks render."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def explain(subject: str | int) -> Page:
    """Return the Markdown page about a rule, an instruction, a concept, a name or a number.

    `subject` is a rule code, a remark of ptxas such as C7508, an opcode or some of its words in order, a form, a family
    of instructions, a concept such as "swizzle", an intrinsic `llvm.nvvm.…`, a builtin `__hmma_…`, an operation
    `nvvm.…` of MLIR, a message, an address `sub_…` or another name of NVIDIA's compiler, a packed word such as
    `descriptor:0x…`, or a number such as `0x…`. The page of a number shows what it denotes in NVIDIA's compiler: a
    builtin, an intrinsic or a packed operand.

    Errors: UsageError for an unknown subject, or for a subject that is no string and no integer
    """
    if not isinstance(subject, str | int):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
        raise UsageError(f"subject is {subject!r:.80}; expected a string or an integer")
    return Page(_page(str(subject).strip()))


_NUMBER = re.compile(r"(?!.*::)(?:.*:)?\d\S*")
"""Number, with the name of a packed word before it if there is a colon."""
_NEGATIVE = re.compile(r"(?:\w+:)?-(?:\d+|0x[0-9a-fA-F]+)")


def _page(subject: str) -> str:
    """Return the page of a subject, with the facts of the texts on NVIDIA's compiler."""
    from warploom.nvvm.explain import number_page
    from warploom.nvvm.reference import search

    is_negative = _NEGATIVE.fullmatch(subject) is not None
    is_number = is_negative or _NUMBER.fullmatch(subject) is not None
    try:
        page = number_page(subject) if is_number else _described(subject)
    except UsageError:
        if not is_negative and (facts := search(subject)):
            return f"# {subject}\n\n{facts}"
        raise
    if is_number or not (facts := search(subject, exact=True)):
        return page
    return f"{page}\n{facts}"


def _described(subject: str) -> str:
    from warploom.check.pages import form_section, forms_called, rule_page
    from warploom.check.rules import rule_of
    from warploom.emulator.traps import pages as emulator_pages
    from warploom.gpu.rules import pages as gpu_pages
    from warploom.gpu.rules import rule_of_remark
    from warploom.isa.binding.partial import completions
    from warploom.observe.sanitize.rules import pages as sanitizer_pages
    from warploom.view.concepts import concept_of

    if subject.startswith(("llvm.", "__")):
        from warploom.nvvm.explain import builtin_page, intrinsic_page

        return builtin_page(subject) if subject.startswith("__") else intrinsic_page(subject)
    if subject.startswith("nvvm."):
        from warploom.nvvm.errors import require_xdsl

        require_xdsl()
        from warploom.nvvm.operation_pages import operation_page

        return operation_page(subject)
    if (concept := concept_of(subject)) is not None:
        return "\n".join([concept.page(), *(form_section(form) for form in forms_called(subject))])
    rule = rule_of(subject)
    if rule is not None:
        form = next(iter(forms_called(subject.partition("/")[0])), None)
        return rule_page(rule) + (f"\n{form_section(form)}" if form is not None and "/" in subject else "")
    further = {code: page for code, _, page in (*sanitizer_pages(), *emulator_pages(), *gpu_pages())}
    remark = rule_of_remark(subject)
    code = subject if remark is None else remark.code
    if code in further:
        return further[code]
    if members := forms_called(subject):
        return "\n".join(form_section(form) for form in members)
    if completed := completions(subject):
        return _completed_page(subject, completed)
    raise UsageError(f"unknown rule or instruction {subject!r}", hint=_hint(subject))


def _completed_page(subject: str, completed: Mapping[Form, str]) -> str:
    from warploom.check.pages import form_section

    if len(completed) == 1:
        return form_section(next(iter(completed)))
    lines = [f"- `{form.name}`: {form.summary}, as in `{opcode}`" for form, opcode in completed.items()]
    listed = "\n".join(lines)
    return f"# {subject}\n\nThese instructions match. `warploom explain NAME` prints the page of one.\n\n{listed}\n"


def _hint(subject: str) -> str:
    from warploom.check.rules import rules
    from warploom.emulator.traps import traps
    from warploom.gpu.rules import rules as gpu_rules
    from warploom.isa.model.form import forms, heads
    from warploom.nvvm.reference import names
    from warploom.observe.sanitize.rules import rules as sanitizer_rules
    from warploom.view.concepts import concepts

    known = [
        *concepts(),
        *rules(),
        *sanitizer_rules(),
        *traps(),
        *gpu_rules(),
        *heads(),
        *(form.name for form in forms()),
        *names(),
    ]
    return did_you_mean(subject, known)
