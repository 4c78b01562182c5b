"""What stands at a place: an instruction's form, what holds its fragments, and how a name is declared."""

from __future__ import annotations

from warploom.check.pages import form_section, layouts
from warploom.diagnostics import Span
from warploom.isa.binding.nearest import fixes, spell
from warploom.isa.binding.operands import place_operands
from warploom.isa.model.form import LONGEST_OPCODE, Match, match_opcode
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.lsp.document import View
from warploom.lsp.names import Names, Symbol
from warploom.ptx import Function, Instruction, Label, Variable

_FORMS = 3
"""Forms that are shown of an opcode that several have."""


def hover(view: View, offset: int) -> tuple[str, Span] | None:
    """What is to be said at an offset, as Markdown, and what it is said of."""
    found = view.instruction_at(offset)
    if found is not None:
        instruction, start = found
        words = instruction.word_spans
        if words and words[0].start <= offset - start <= words[-1].end:
            return _instruction(instruction), Span(start + words[0].start, start + words[-1].end)
    names = Names(view)
    token = names.token_at(offset)
    if token is None:
        return None
    k, (begin, end, text) = token
    start = view.reading.starts[k]
    symbol = names.symbol_at(offset)
    if symbol is not None:
        return _symbol(symbol), Span(start + begin, start + end)
    return _special(view, start + begin, text)


def _special(view: View, begin: int, text: str) -> tuple[str, Span] | None:
    """A special register; `%tid.x` is one name."""
    behind = view.text[begin + len(text) : begin + len(text) + 2]
    register = SPECIAL_REGISTERS.get(text + behind) or SPECIAL_REGISTERS.get(text)
    if register is None:
        return None
    said = f"`{register.name}`: special register of `.{register.type}`"
    if register.ptx > (1, 0):
        said += f", from PTX {register.ptx[0]}.{register.ptx[1]} on"
    if register.target:
        said += f", on {register.target} or higher"
    return said, Span(begin, begin + len(register.name))


def _symbol(symbol: Symbol) -> str:
    node = symbol.declaration
    match node:
        case Label(name):
            return f"`{name}`: label"
        case Function(body=body):
            text = (node.source_text or "").partition("{")[0] if body is not None else node.source_text or ""
            return f"```ptx\n{text.strip()}\n```"
        case Variable():
            what = f"`{symbol.text}`: one of the {node.count} registers of\n\n" if symbol.is_of_range else ""
            return f"{what}```ptx\n{(node.source_text or '').strip()}\n```"


def _instruction(instruction: Instruction) -> str:
    matches = match_opcode(instruction.opcode)
    fitting = [match for match in matches if isinstance(place_operands(match, instruction.operands), dict)]
    shown = (fitting or list(matches))[:_FORMS]
    if not shown:
        return _unknown(instruction.opcode)
    return "\n---\n\n".join(_match(match) for match in shown)


def _match(match: Match) -> str:
    lines = [f"`{name}`: {text}" for name, text in layouts(match.form, match.slots)]
    here = "  \n".join(lines)
    return (f"{here}\n\n" if here else "") + form_section(match.form)


def _unknown(opcode: str) -> str:
    found = fixes(opcode) if len(opcode) <= LONGEST_OPCODE else ()
    legal = list(dict.fromkeys(fix.nearest or spell(fix.match) for fix in found))[:_FORMS]
    near = "; near are " + ", ".join(f"`{each}`" for each in legal) if legal else ""
    return f"`{opcode}` is no legal opcode{near}"
