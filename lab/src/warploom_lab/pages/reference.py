"""Reference pages of instructions, rules and the NVVM dialect.

They are in `docs/isa`, `docs/rules` and `docs/nvvm`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from warploom.check.pages import escaped, form_section, rule_page
from warploom.check.rules import rules
from warploom.emulator.traps import pages as trap_pages
from warploom.gpu.rules import pages as gpu_pages
from warploom.isa import instructions
from warploom.isa.model.form import Form, forms
from warploom.observe.sanitize.rules import pages as sanitizer_pages
from warploom_lab.pages.cicc import pages as cicc_pages
from warploom_lab.pages.nvvm import pages as dialect_pages

_FOLDERS = ("docs/isa", "docs/rules", "docs/nvvm", "docs/nvvm/dialect")

_INSTRUCTIONS = """\
# Instructions

`warploom explain OPCODE` prints the description of an instruction. You may omit modifiers of the opcode. Each of the
following pages describes one family of instructions. For each instruction, the page states the syntax, the legal
combinations of modifiers, the operands, and the section of the PTX manual. For each combination of modifiers, the page
states the first PTX version and the targets that support the combination. A heading such as `wgmma.half` is the name of
a *Form*: Warploom's description of one instruction, or of several instructions with the same syntax.
"""
_FAMILY = """\
Each section describes one Form: an instruction, or several instructions with the same syntax. The table with the
column `PTX` lists the combinations of modifiers that PTX allows, where `none` means that the modifier is absent. `PTX`
is the lowest PTX version that has the combination, and `targets` are the targets that support it. `sm_90`+ means sm_90
and all newer targets. If an instruction has no choice of modifiers, this table is absent. The next table lists the
operands. Further tables of matrix instructions list the registers of each operand and the arithmetic.
"""
_RULES = """\
# Rules

Every message about a kernel names a rule by its code. `warploom explain CODE` prints the page of a rule. The beginning
of the code shows which part of Warploom applies the rule:

| beginning of the code | part of Warploom |
|---|---|
| `ptx.…` | the parser |
| `sanitize.…` | the sanitizer |
| `emulator.…` | the emulator, if the kernel fails or if the emulator cannot run the kernel |
| `gpu.…` | a launch on a GPU, including the assembler |
| all others | the checker |

A *Form* is Warploom's description of one instruction, or of several instructions with the same syntax. In the list,
`<form>` stands for the name of a Form, such as `wgmma.half`, `<slot>` for a modifier of its syntax line, such as
`dtype`, and `<operand>` for an operand. [Instructions](../isa/README.md) lists all Forms. The rules that begin with
`tolerated` are about PTX that the manual does not allow but assemblers accept.
"""


def texts() -> dict[str, str]:
    """Return every page in Markdown, by its path in the repository."""
    pages = _instruction_pages() | _rule_pages() | dialect_pages() | cicc_pages()
    return {f"docs/{name}": text for name, text in pages.items()}


def existing(repository: Path) -> Iterator[str]:
    """Yield the path of every page in the generated folders of a repository, relative to the repository."""
    for folder in _FOLDERS:
        for path in (repository / folder).glob("*.md"):
            yield path.relative_to(repository).as_posix()


def _instruction_pages() -> dict[str, str]:
    pages: dict[str, str] = {}
    index = [_INSTRUCTIONS]
    for family, members in _families().items():
        summary = _summary(family)
        sections = "\n".join(form_section(form) for form in members)
        pages[f"isa/{family}.md"] = f"# {family}\n\n{summary}\n\n{_FAMILY}\n{sections}"
        index.append(f"- [{family}]({family}.md): {summary}")
    pages["isa/README.md"] = "\n".join(index) + "\n"
    return pages


def _rule_pages() -> dict[str, str]:
    pages: dict[str, str] = {}
    index = [_RULES]
    checker = ((code, rule.what, rule_page(rule)) for code, rule in rules().items())
    for code, what, page in (*checker, *sanitizer_pages(), *trap_pages(), *gpu_pages()):
        name = re.sub(r"[^\w.-]+", "-", code).strip("-") + ".md"
        pages[f"rules/{name}"] = page
        index.append(f"- [{escaped(code)}]({name}): {what.split('. ')[0].rstrip('.')}.")
    pages["rules/README.md"] = "\n".join(index) + "\n"
    return pages


def _families() -> dict[str, list[Form]]:
    found: dict[str, list[Form]] = {}
    for form in forms():
        found.setdefault(form.family, []).append(form)
    return dict(sorted(found.items()))


def _summary(family: str) -> str:
    text = getattr(instructions, family, None).__doc__ or ""
    return text.strip().split("\n\n")[0].replace("\n", " ")
