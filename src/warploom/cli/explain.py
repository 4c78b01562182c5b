"""`warploom explain`: the page of a rule, an instruction, an intrinsic, a builtin, or a number."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from warploom.diag import UsageError

OK = 0


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "explain",
        help="say what a rule, an instruction, an intrinsic, a builtin or a packed word is",
        description="Print the page of a rule code, of an instruction, of a family of instructions, of an intrinsic,"
        " of a builtin of NVIDIA's compiler, or of a number: the builtin, the intrinsic and the packed words that it"
        " may be.",
        epilog="An instruction may be written as far as it is known: its first words are enough.",
    )
    parser.set_defaults(verb=run)
    parser.add_argument(
        "subject",
        metavar="RULE | INSTRUCTION | NAME | NUMBER",
        help="a rule code, a remark of ptxas such as C7508, an opcode, llvm.nvvm.…, __hmma_…, or a number such as 0x…",
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.check.pages import form_section, forms_called, rule_page
    from warploom.check.rules import rule_of
    from warploom.gpu.rules import pages as gpu_pages
    from warploom.gpu.rules import rule_of_remark
    from warploom.machine.traps import pages as machine_pages
    from warploom.sanitize.rules import pages as sanitizer_pages

    subject = options.subject.strip()
    if subject[:1].isdigit():
        from warploom.nvvm.names import number_page
        from warploom.nvvm.words.show import explain, read_number

        _show("\n".join(page for page in (number_page(read_number(subject)), explain(subject)) if page))
        return OK
    if subject.startswith(("llvm.", "__")):
        from warploom.nvvm.names import builtin_page, intrinsic_page

        _show(builtin_page(subject) if subject.startswith("__") else intrinsic_page(subject))
        return OK
    rule = rule_of(subject)
    members = forms_called(subject)
    more = {code: page for code, _, page in (*sanitizer_pages(), *machine_pages(), *gpu_pages())}
    if rule is not None:
        form = next(iter(forms_called(subject.partition("/")[0])), None)
        _show(rule_page(rule) + (f"\n{form_section(form)}" if form is not None and "/" in subject else ""))
    elif subject in more:
        _show(more[subject])
    elif (remark := rule_of_remark(subject)) is not None:
        _show(more[remark.code])
    elif members:
        _show("\n".join(form_section(form) for form in members))
    else:
        raise UsageError(f"there is no rule and no instruction {subject!r}", hint=_hint(subject))
    return OK


def _hint(subject: str) -> str:
    from difflib import get_close_matches

    from warploom.check.rules import rules
    from warploom.gpu.rules import rules as gpu_rules
    from warploom.isa.kit import forms, heads
    from warploom.machine.traps import traps
    from warploom.sanitize.rules import rules as sanitizer_rules

    known = [*rules(), *sanitizer_rules(), *traps(), *gpu_rules(), *heads(), *(form.name for form in forms())]
    like = get_close_matches(subject, known, 1, 0.6)
    return f"did you mean {like[0]}?" if like else ""


def _show(page: str) -> None:
    if not sys.stdout.isatty():
        print(page, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(page))
