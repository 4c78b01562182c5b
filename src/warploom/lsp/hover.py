"""Hover information: the page of an instruction's Form, or the declaration of a name."""

from warploom.check.pages import form_section, layouts
from warploom.diagnostics import Span
from warploom.isa.binding.nearest import fixes, spell
from warploom.isa.binding.operands import place_operands
from warploom.isa.model.form import LONGEST_OPCODE, match_opcode
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.lsp.document import View
from warploom.lsp.names import Names, Symbol
from warploom.ptx import Function, Instruction, Label, Variable

_FORMS = 3
"""Maximum number of Forms that are shown for one opcode."""


def hover(view: View, offset: int) -> tuple[str, Span] | None:
    """Return Markdown about the word at an offset, and the word's span. Return None for an unknown word."""
    if (found := view.instruction_at(offset)) is not None:
        instruction, start = found
        words = instruction.word_spans
        if words and words[0].start <= offset - start <= words[-1].end:
            return _instruction(instruction), Span(start + words[0].start, start + words[-1].end)
    names = Names(view)
    if (token := names.token_at(offset)) is None:
        return None
    k, (begin, end, text) = token
    start = view.parsed.starts[k]
    if (symbol := names.symbol_at(offset)) is not None:
        return _symbol(symbol), Span(start + begin, start + end)
    return _special_register(view, start + begin, text)


def _special_register(view: View, begin: int, text: str) -> tuple[str, Span] | None:
    # `%tid.x` is one name, whose member follows the token.
    member = view.text[begin + len(text) : begin + len(text) + 2]
    register = SPECIAL_REGISTERS.get(text + member) or SPECIAL_REGISTERS.get(text)
    if register is None:
        return None
    markdown = f"`{register.name}`: special register of `.{register.type}`"
    if register.ptx > (1, 0):
        markdown += f", from PTX {register.ptx[0]}.{register.ptx[1]} on"
    if register.target:
        markdown += f", on {register.target} or higher"
    return markdown, Span(begin, begin + len(register.name))


def _symbol(symbol: Symbol) -> str:
    node = symbol.declaration
    text = node.source_text or ""
    match node:
        case Label(name):
            return f"`{name}`: label"
        case Function(body=body):
            signature = text.partition("{")[0] if body is not None else text
            return f"```ptx\n{signature.strip()}\n```"
        case Variable():
            note = f"`{symbol.text}`: one of the {node.count} registers of\n\n" if symbol.is_of_range else ""
            return f"{note}```ptx\n{text.strip()}\n```"


def _instruction(instruction: Instruction) -> str:
    matches = match_opcode(instruction.opcode)
    fitting = [match for match in matches if isinstance(place_operands(match, instruction.operands), dict)]
    shown = (fitting or list(matches))[:_FORMS]
    if not shown:
        return _illegal(instruction.opcode)
    sections: list[str] = []
    for match in shown:
        lines = "  \n".join(f"`{name}`: {text}" for name, text in layouts(match.form, match.slots))
        sections.append((f"{lines}\n\n" if lines else "") + form_section(match.form))
    return "\n---\n\n".join(sections)


def _illegal(opcode: str) -> str:
    found = fixes(opcode) if len(opcode) <= LONGEST_OPCODE else ()
    legal = list(dict.fromkeys(fix.nearest or spell(fix.match) for fix in found))[:_FORMS]
    similar = "; similar are " + ", ".join(f"`{each}`" for each in legal) if legal else ""
    return f"`{opcode}` is not a legal opcode{similar}"
