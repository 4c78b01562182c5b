"""Reference pages of instructions, rules and the NVVM dialect, in `docs`."""

import re
import textwrap
from collections.abc import Iterator, Sequence
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
following pages describes one family of instructions. For each instruction, the page states what it computes, when to
use it, an example, the syntax, the legal combinations of modifiers, the operands, and the section of the PTX manual.
For each combination of modifiers, the page states the first PTX version and the targets that support the combination. A
heading such as `wgmma.half` is the name of a *Form*: Warploom's description of one instruction, or of several
instructions with the same syntax.

In the examples, `%p` are predicates, `%h`, `%r`, `%rd` and `%rq` are registers of 16, 32, 64 and 128 bits, and `%f` and
`%d` are registers of f32 and f64.
"""
_FAMILY = """\
To see which modifiers and operands an instruction accepts, find the section with its syntax. Each section describes one
*Form*: an instruction, or several instructions with the same syntax. Braces in the opcode of the syntax enclose
optional modifiers. A section can have these tables:
"""
_MODIFIERS = """\
The table with the columns `PTX` and `targets` lists the legal combinations of modifiers. Each other column lists the
words that may replace the column's name in the syntax line, and `none` means that this part of the opcode is left out.
Every combination of one word from each cell of a row is legal. `PTX` is the lowest PTX version that supports the row.
`targets` are the targets that support the row, where `sm_90`+ means sm_90 and all newer targets. `any` means every
version or target.
"""
_NO_MODIFIERS = """\
A section without this table describes an instruction without a choice of modifiers.
"""
_OPERANDS = """\
The table with the column `operand` lists the operands.
"""
_CONSTANTS = """\
If the legal constants of an operand depend on the modifiers, the table lists all alternatives, separated by `or`.
"""
_REGISTERS = """\
The table with a column for each matrix in registers lists the registers of a thread and the elements in them. The page
shows at most twelve rows of this table. For example, {} `.{}` `(T{},V{}) -> ({},{})` means that a thread has {} of the
type `.{}`. Together, {} threads (T) with {} (V) per thread hold a matrix of {} x {} elements.
"""
_LEGEND = re.compile(r"(\d+) `\.(\w+)` `\(T(\d+),V(\d+)\) -> \((\w+),(\w+)\)`")
_DIMENSIONS = {
    "M": "M, N and K are the dimensions of the multiplication.",
    "L": "L and C are lanes and columns of tensor memory.",
}
_GROUPS = """\
`4 of` means that there are four groups of threads with one matrix per group.
"""
_SUMS = """\
The table with the column `sum` states the arithmetic of a multiplication.
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
    """Return every page as Markdown, by its path in the repository."""
    pages = _instruction_pages() | _rule_pages() | dialect_pages() | cicc_pages()
    return {f"docs/{name}": text for name, text in pages.items()}


def existing(repository: Path) -> Iterator[str]:
    """Yield the path of every Markdown file in the folders of generated pages."""
    for folder in _FOLDERS:
        for path in (repository / folder).glob("*.md"):
            yield path.relative_to(repository).as_posix()


def _instruction_pages() -> dict[str, str]:
    pages: dict[str, str] = {}
    index = [_INSTRUCTIONS]
    for family, members in _families().items():
        summary = _summary(family)
        sections = "\n".join(form_section(form) for form in members)
        pages[f"isa/{family}.md"] = f"# {family}\n\n{summary}\n\n{_introduction(members, sections)}\n{sections}"
        index.append(f"- [{family}]({family}.md): {summary}")
    pages["isa/README.md"] = "\n".join(index) + "\n"
    return pages


def _introduction(members: Sequence[Form], sections: str) -> str:
    """Return the text that explains the tables of a page of instructions."""
    rows = _MODIFIERS if any(form.columns for form in members) else ""
    absent = _NO_MODIFIERS if rows and not all(form.columns for form in members) else ""
    operands = _OPERANDS if any(form.operands for form in members) else ""
    constants = _CONSTANTS if re.search(r"constants \(.*\) or \(", sections) else ""
    groups = _GROUPS if "`4 of (" in sections else ""
    sums = _SUMS if any(form.multiply is not None for form in members) else ""
    # One list item for each kind of table on the page.
    items = (rows + absent, operands + constants, _registers(sections) + groups, sums)
    return _FAMILY + "\n" + "".join(_filled(item) for item in items if item)


def _filled(item: str) -> str:
    text = " ".join(item.split())
    return textwrap.fill(text, 119, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False) + "\n"


def _registers(sections: str) -> str:
    """Return the text that explains the register table of a page, or "" for a page without this table."""
    found = _LEGEND.search(sections)
    if found is None:
        return ""
    count, type_, threads, values, rows, columns = found.groups()
    sizes = (
        _counted(count, "register"),
        type_,
        threads,
        _counted(values, "value"),
        *(s.lstrip("MNKLC") for s in (rows, columns)),
    )
    return _REGISTERS.format(*found.groups(), *sizes) + _DIMENSIONS.get(rows[0], "") + "\n"


def _counted(count: str, noun: str) -> str:
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


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
