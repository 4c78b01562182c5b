"""`explain`: the page of a rule, an instruction, an intrinsic, a builtin, or a number."""

from __future__ import annotations

from warploom.diagnostics import UsageError

__all__ = ["Page", "explain"]


class Page(str):
    """A page, as Markdown: what notebooks show it as."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


def explain(subject: str | int) -> Page:
    """The page of a rule code, a remark of ptxas such as C7508, an opcode, a form, a family of instructions,
    `llvm.nvvm.…`, `__hmma_…`, or a number such as `0x…`: the builtin, the intrinsic and the packed words it may be.

    An instruction may be written as far as it is known: its first words are enough.

    Errors: UsageError where there is nothing of that name.
    """
    return Page(_page(str(subject).strip()))


def _page(subject: str) -> str:
    from warploom.check.pages import form_section, forms_called, rule_page
    from warploom.check.rules import rule_of
    from warploom.emulator.traps import pages as emulator_pages
    from warploom.gpu.rules import pages as gpu_pages
    from warploom.gpu.rules import rule_of_remark
    from warploom.observe.sanitize.rules import pages as sanitizer_pages

    if subject[:1].isdigit():
        from warploom.nvvm.names import number_page
        from warploom.nvvm.words.show import explain as words_of
        from warploom.nvvm.words.show import read_number

        return "\n".join(page for page in (number_page(read_number(subject)), words_of(subject)) if page)
    if subject.startswith(("llvm.", "__")):
        from warploom.nvvm.names import builtin_page, intrinsic_page

        return builtin_page(subject) if subject.startswith("__") else intrinsic_page(subject)
    rule = rule_of(subject)
    if rule is not None:
        form = next(iter(forms_called(subject.partition("/")[0])), None)
        return rule_page(rule) + (f"\n{form_section(form)}" if form is not None and "/" in subject else "")
    more = {code: page for code, _, page in (*sanitizer_pages(), *emulator_pages(), *gpu_pages())}
    remark = rule_of_remark(subject)
    if subject in more or remark is not None:
        return more[subject if subject in more or remark is None else remark.code]
    if members := forms_called(subject):
        return "\n".join(form_section(form) for form in members)
    raise UsageError(f"there is no rule and no instruction {subject!r}", hint=_hint(subject))


def _hint(subject: str) -> str:
    from difflib import get_close_matches

    from warploom.check.rules import rules
    from warploom.emulator.traps import traps
    from warploom.gpu.rules import rules as gpu_rules
    from warploom.isa.model.form import forms, heads
    from warploom.observe.sanitize.rules import rules as sanitizer_rules

    known = [*rules(), *sanitizer_rules(), *traps(), *gpu_rules(), *heads(), *(form.name for form in forms())]
    like = get_close_matches(subject, known, 1, 0.6)
    return f"did you mean {like[0]}?" if like else ""
