"""Pages about instructions and rules, made from the Forms and the rule records: what `explain` prints and
`docs` holds. Every page is Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from warploom import isa
from warploom.check.rules import Rule, rules
from warploom.isa.binding.nearest import respell
from warploom.isa.binding.operands import list_values
from warploom.isa.model.form import Form, forms
from warploom.isa.model.operand_layout import DEFAULT_INPUTS
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.table import Row

_SAMPLES = 12
_SCOPES = {
    "body": "the statements of a kernel",
    "module": "what follows the head of a module",
    "text": "a whole text",
}


# Instructions -----------------------------------------------------------------------------------------------


def families() -> dict[str, list[Form]]:
    """Every form, by family."""
    found: dict[str, list[Form]] = {}
    for form in forms():
        found.setdefault(form.family, []).append(form)
    return dict(sorted(found.items()))


def forms_called(query: str) -> list[Form]:
    """The forms of an instruction, a form's or family's name, or an opcode, written as far as it is known."""
    named = [form for form in forms() if query in (form.name, form.family)]
    return named or [form for form in forms() if _begins(form, query.removesuffix(";").split("."))]


def _begins(form: Form, words: list[str]) -> bool:
    """Whether an opcode of a form can begin with some words."""

    def walk(p: int, w: int) -> bool:
        if w == len(words):
            return True
        if p == len(form.syntax.words):
            return False
        word = form.syntax.words[p]
        if word.composite is not None:
            fits = word.composite.fullmatch(words[w]) is not None
        else:
            fits = words[w] == word.literal if word.literal else words[w] in form.vocabulary[word.slot]
        return (fits and walk(p + 1, w + 1)) or (word.optional and walk(p + 1, w))

    return words[0] in form.heads and walk(0, 0)


def family_page(family: str, members: Iterable[Form]) -> str:
    """The page of a family."""
    body = "\n".join(form_section(form) for form in members)
    return f"# {family}\n\n{_summary(family)}\n\n{body}"


def _summary(family: str) -> str:
    module = getattr(isa, family, None)
    text = (getattr(module, "__doc__", "") or "").strip()
    return text.split("\n\n")[0].replace("\n", " ")


def form_section(form: Form) -> str:
    """Syntax line, table of rows, operands and their registers, source."""
    parts = [f"## {form.name}\n", f"```\n{_syntax(form)}\n```\n"]
    for slot, spelling in form.composites.items():
        parts.append(f"`.{slot}` is `{spelling}`.\n")
    if form.columns:
        parts.append(_rows_table(form))
    if form.operands:
        parts.append(_operands_table(form))
    fragments = {name: place for name, place in form.operands.items() if place.is_fragment}
    if fragments:
        parts.append(_registers_table(form, fragments))
    parts.append(f"Source: {form.source}\n")
    return "\n".join(parts)


def _syntax(form: Form) -> str:
    opcode, _, operands = form.syntax_line.partition(" ")
    return f"{opcode} {operands.strip()}".strip()


def _rows_table(form: Form) -> str:
    heads = [*form.columns, "PTX", "targets"]
    lines = [_row_cells(form, row) for row in form.rows]
    return _table(heads, lines)


def _row_cells(form: Form, row: Row) -> list[str]:
    cells = [_cell(row.cells[column]) for column in form.columns]
    targets = " ".join(f"`{name}`" + ("+" if name[-1].isdigit() else "") for name in row.targets)
    ptx = f"{row.ptx[0]}.{row.ptx[1]}" if row.ptx > (1, 0) else "any"
    return [*cells, ptx, targets or "any"]


def _cell(words: tuple[str, ...]) -> str:
    numbers = [int(word) for word in words if word.isdecimal()]
    if len(numbers) == len(words) and len(words) > 4:
        return _lattice(numbers)
    return " ".join(f"`{word}`" if word else "none" for word in words)


def _lattice(numbers: list[int]) -> str:
    """Integers as ranges with a step: 8 to 24 by 8, 32 to 256 by 16."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and (len(runs[-1]) == 1 or number - runs[-1][-1] == runs[-1][1] - runs[-1][0]):
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [
        f"{run[0]} to {run[-1]} by {run[1] - run[0]}" if len(run) > 2 else ", ".join(map(str, run))
        for run in runs
    ]
    return ", ".join(shown)


def _operands_table(form: Form) -> str:
    lines: list[list[str]] = []
    optional = {name for place in form.syntax.places if place.optional for name in place.names}
    for name, place in form.operands.items():
        samples = list(_samples(form))
        types = list(dict.fromkeys(place.type_word(slots) for slots in samples))
        shown = name.replace("_", "-").strip("-") or "_"
        notes = [_kind(place)]
        if place.kind in ("register", "any") and not place.is_fragment:
            notes.append(_counts(place, samples))
        constants = list(dict.fromkeys(list_values(c) for s in samples if (c := place.constants(s))))
        if constants:
            notes.append("constants " + "; ".join(constants))
        if place.when:
            notes.append(f"stands with `.{place.when}`")
        elif name in optional:
            notes.append("may be absent")
        if place.legal.target:
            notes.append(f"needs `{place.legal.target}`")
        typed = place.kind in ("register", "immediate", "any")
        lines.append(
            [f"`{shown}`", "; ".join(note for note in notes if note), _types(types) if typed else ""]
        )
    return _table(["operand", "what stands there", "type"], lines)


def _types(types: list[str]) -> str:
    return " ".join(f"`.{word}`" for word in types[:10]) + (" …" if len(types) > 10 else "")


def _kind(place: OperandSpec) -> str:
    match place.kind:
        case "register":
            return {"write": "result", "both": "read and written", "read": "source"}.get(place.access, "")
        case "predicate":
            return "predicate, result" if place.access == "write" else "predicate or its negation"
        case "any":
            return "source, or a predicate in its stead"
        case "immediate":
            return "integer constant"
        case "tuple":
            return "list in parentheses"
        case "sink":
            return "the sink `_`"
        case "address" if place.space == "tensor":
            return "address in tensor memory"
        case other:
            return other


def _counts(place: OperandSpec, samples: list[dict[str, str]]) -> str:
    counts = sorted({place.registers(slots) for slots in samples})
    if counts == [0]:
        return ""
    shown = ", ".join(
        "one register" if count == 0 else "any number" if count < 0 else str(count) for count in counts
    )
    return f"vector of {shown}" if 0 not in counts else f"{shown} in a vector"


def _registers_table(form: Form, fragments: Mapping[str, OperandSpec]) -> str:
    """How many registers hold each fragment, and which lane holds what, for samples of the rows."""
    keyed = [
        word
        for word in ("shape", "dtype", "atype", "btype", "ctype", "type", "dst_fmt", "matrix", "num", "trans")
        if _varies(form, word)
    ]
    lines: list[list[str]] = []
    seen: set[tuple[str, ...]] = set()
    for slots in _samples(form):
        key = tuple(slots.get(word, "") for word in keyed)
        if key in seen or len(lines) >= _SAMPLES:
            continue
        seen.add(key)
        cells = [text for _, text in layouts(form, slots)]
        lines.append([*(f"`{word}`" if word else "none" for word in key), *cells])
    names = [name.replace("_", "-") for name in fragments]
    return _table([*keyed, *names], lines)


def layouts(form: Form, slots: Mapping[str, str]) -> list[tuple[str, str]]:
    """The fragments of a form with some slots: the operand, and in a line its registers and which lane holds
    what.
    """
    return [
        (
            name.replace("_", "-"),
            f"{place.registers(slots)} `.{place.type_word(slots)}` `{place.layout.map(slots, DEFAULT_INPUTS).legend}`",
        )
        for name, place in form.operands.items()
        if place.layout is not None and place.is_fragment
    ]


def _varies(form: Form, slot: str) -> bool:
    return slot in form.columns or slot in form.composites


def _samples(form: Form) -> Iterator[dict[str, str]]:
    """Slots of every row: each combination of its words, the first few and the last of long cells."""
    for row in form.rows:
        names = list(row.cells)
        choices = [_few(row.cells[name], name in form.parts) for name in names]
        for words in islice(product(*choices), 64):
            slots = dict(zip(names, words, strict=True))
            for word in form.syntax.words:
                if word.slot and word.slot not in slots and word.composite is None:
                    slots[word.slot] = ""
            yield respell(form, slots)


def _few(words: tuple[str, ...], composite: bool) -> tuple[str, ...]:
    if composite and len(words) > 3:
        return (words[0], words[1], words[-1])
    return words if len(words) <= 8 else words[:8]


# Rules ------------------------------------------------------------------------------------------------------


def rule_page(rule: Rule) -> str:
    """The page of a rule."""
    bad, good = rule.bad.strip("\n"), rule.good.strip("\n")
    again = f" (so {rule.repeat} times)" if rule.repeat > 1 else ""
    emits = f"It gives `{rule.emits}`.\n\n" if rule.emits else ""
    return (
        f"# {_escaped(rule.code)}\n\n{rule.what}\n\n{rule.why}\n\n"
        f"The examples are {_SCOPES[rule.scope]}.\n\n"
        f"## Bad{again}\n\n```ptx\n{bad}\n```\n\n{emits}"
        f"## Good\n\n```ptx\n{good}\n```\n\n"
        f"Source: {rule.source}\n"
    )


def rule_file(code: str) -> str:
    """The name of a rule's page."""
    return re.sub(r"[^\w.-]+", "-", code).strip("-") + ".md"


def _escaped(code: str) -> str:
    return code.replace("<", "\\<")


# The folder -------------------------------------------------------------------------------------------------


def all_pages(more: Iterable[tuple[str, str, str]] = ()) -> dict[str, str]:
    """Every generated page of `docs`, by its path there.

    `more` are rules of other floors: code, what the rule is, page.
    """
    pages: dict[str, str] = {}
    index = ["# Instructions\n"]
    for family, members in families().items():
        pages[f"isa/{family}.md"] = family_page(family, members)
        index.append(f"- [{family}]({family}.md): {_summary(family)}")
    pages["isa/README.md"] = "\n".join(index) + "\n"
    index = ["# Rules\n"]
    own = ((code, rule.what, rule_page(rule)) for code, rule in rules().items())
    for code, what, page in (*own, *more):
        pages[f"rules/{rule_file(code)}"] = page
        index.append(f"- [{_escaped(code)}]({rule_file(code)}): {what.split('. ')[0].rstrip('.')}.")
    pages["rules/README.md"] = "\n".join(index) + "\n"
    return pages


def _table(heads: list[str], lines: list[list[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *lines]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows) + "\n"
    )
