"""Markdown pages of instructions and rules, made from the Forms and the rule records."""

from collections.abc import Iterator, Mapping
from itertools import islice, product

from warploom.check.rules import Rule
from warploom.isa.binding.nearest import respell
from warploom.isa.binding.operands import list_values
from warploom.isa.model.availability import read_target, unmet_by_row
from warploom.isa.model.form import Form, forms
from warploom.isa.model.multiplication import element_of, k_of
from warploom.isa.model.operand_layout import DEFAULT_INPUTS
from warploom.isa.model.operands import OperandSpec
from warploom.numerics.models import NoModelError

_SAMPLES = 12
_ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
"""One architecture of each generation of matrix units."""
_NEWEST = (99, 9)
_SCOPES = {
    "body": "statements in the body of a kernel",
    "module": "declarations and functions after the header of a module",
    "text": "whole modules",
}

_KINDS = {
    "any": "source or predicate",
    "immediate": "integer constant",
    "tuple": "list in parentheses",
    "sink": "the sink `_`, which discards the result",
}


# Instructions -----------------------------------------------------------------------------------------------


def forms_called(query: str) -> list[Form]:
    """Return the Forms that a query names.

    The query is the name of a Form or family, or the first words of an opcode.
    """
    named = [form for form in forms() if query in (form.name, form.family)]
    return named or [form for form in forms() if _begins(form, query.removesuffix(";").split("."))]


def _begins(form: Form, words: list[str]) -> bool:
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


def form_section(form: Form) -> str:
    """Return the page section of a Form as Markdown."""
    opcode, _, operands = form.syntax_line.partition(" ")
    syntax = f"{opcode} {operands.strip()}".strip()
    parts = [f"## {form.name}\n"]
    if form.about:
        parts.append(f"{form.about}\n\n```ptx\n{form.example}\n```\n")
    parts.append(f"```\n{syntax}\n```\n")
    for slot, spelling in form.composites.items():
        parts.append(f"`.{slot}` is `{spelling}`, where a name in braces is a column of the table.\n")
    if form.columns:
        parts.append(_rows_table(form))
    if form.operands:
        parts.append(_operands_table(form))
    fragments = {name: spec for name, spec in form.operands.items() if spec.is_fragment}
    if fragments:
        parts.append(_registers_table(form, fragments))
    if form.multiply is not None:
        parts.append(_SUMS.format((form.multiply.__doc__ or "").removeprefix("Return ").rstrip(".")))
        parts.append(_sums_table(form))
    parts.append(f"Source: {form.source}\n")
    return "\n".join(parts)


def _rows_table(form: Form) -> str:
    lines: list[list[str]] = []
    for row in form.rows:
        cells = [_cell(row.cells[column]) for column in form.columns]
        targets = " ".join(f"`{name}`" + ("+" if name[-1].isdigit() else "") for name in row.targets)
        ptx = f"{row.ptx[0]}.{row.ptx[1]}" if row.ptx > (1, 0) else "any"
        lines.append([*cells, ptx, targets or "any"])
    return table([*form.columns, "PTX", "targets"], lines)


def _cell(words: tuple[str, ...]) -> str:
    numbers = [int(word) for word in words if word.isdecimal()]
    if len(numbers) == len(words) and len(words) > 4:
        return _ranges(numbers)
    return " ".join(f"`{word}`" if word else "none" for word in words)


def _ranges(numbers: list[int]) -> str:
    """Return integers as text in ranges with a step, such as "8 to 24 by 8, 32 to 256 by 16"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and (len(runs[-1]) == 1 or number - runs[-1][-1] == runs[-1][1] - runs[-1][0]):
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(
        f"{run[0]} to {run[-1]} by {run[1] - run[0]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def _operands_table(form: Form) -> str:
    lines: list[list[str]] = []
    optional = {name for pattern in form.syntax.operands if pattern.optional for name in pattern.names}
    samples = list(_samples(form))
    for name, spec in form.operands.items():
        types = list(dict.fromkeys(spec.type_word(slots) for slots in samples))
        shown = name.replace("_", "-").strip("-") or "_"
        notes = [_kind(spec)]
        if spec.kind in ("register", "any") and not spec.is_fragment:
            notes.append(_counts(spec, samples))
        constants = list(dict.fromkeys(list_values(c) for s in samples if (c := spec.constants(s))))
        if constants:
            notes.append("legal constants " + " or ".join(f"({each})" for each in constants))
        if spec.when:
            notes.append(f"only with `.{spec.when}`")
        elif name in optional:
            notes.append("optional")
        if spec.legal.target:
            notes.append(f"needs `{spec.legal.target}`")
        typed = ""
        if spec.kind in ("register", "immediate", "any"):
            typed = " ".join(f"`.{word}`" for word in types[:10]) + (" …" if len(types) > 10 else "")
        lines.append([f"`{shown}`", "; ".join(note for note in notes if note), typed])
    return table(["operand", "description", "type"], lines)


def _kind(spec: OperandSpec) -> str:
    if spec.kind == "register":
        return {"write": "result", "both": "read and written", "read": "source"}.get(spec.access, "")
    if spec.kind == "predicate":
        return "result; predicate" if spec.access == "write" else "source; predicate or its negation"
    if spec.kind == "address" and spec.space == "tensor":
        return "address in tensor memory"
    return _KINDS.get(spec.kind, spec.kind)


def _counts(spec: OperandSpec, samples: list[dict[str, str]]) -> str:
    counts = sorted({spec.registers(slots) for slots in samples})
    if counts == [0]:
        return ""
    vector = "vector of length " + ", ".join("any" if count < 0 else str(count) for count in counts if count)
    return vector if 0 not in counts else f"one register, or a {vector}"


def _registers_table(form: Form, fragments: Mapping[str, OperandSpec]) -> str:
    """Return a table of the registers and element positions of fragments, for sample opcodes."""
    keyed = [
        word
        for word in ("shape", "dtype", "atype", "btype", "ctype", "type", "dst_fmt", "matrix", "num", "trans")
        if word in form.columns or word in form.composites
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
    return table([*keyed, *names], lines)


_SUMS = """Result: `{}`. The table defines `sum` for each architecture, with functions of `warploom.numerics.spec`.
`docs/arithmetic.md` explains these functions and the letters of the evidence. `length` is L there, `fraction` is F.
"""


def _sums_table(form: Form) -> str:
    """Return a table of a multiplication's summation formulas, by types and architecture."""
    found: dict[tuple[str, ...], list[tuple[str, str, int]]] = {}
    for slots in _samples(form):
        sums: dict[tuple[str, str, str], list[str]] = {}
        for arch in _ARCHITECTURES:
            target = read_target(arch)
            if target is None or all(unmet_by_row(row, target, _NEWEST) for row in form.rows_of(slots)):
                continue
            try:
                model = form.model(arch, slots)
            except NoModelError:
                continue
            letters = ", ".join(each.value for each in model.evidence)
            sums.setdefault((model.formula(), model.rounding, letters), []).append(f"`{arch}`")
        a, b, d = (element_of(slots, operand) for operand in "ABD")
        for (formula, rounding, letters), archs in sums.items():
            key = (slots.get("ctype") or d, d, " ".join(archs), f"`{formula}`", rounding, letters)
            found.setdefault(key, []).append((a, b, k_of(slots["shape"])))
    lines = [
        [*(", ".join(map(str, dict.fromkeys(column))) for column in zip(*types, strict=True)), *key]
        for key, types in found.items()
    ]
    return table(["a", "b", "K", "c", "d", "architectures", "sum", "rounding", "evidence"], lines)


def layouts(form: Form, slots: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the fragments of a Form with the modifiers `slots`.

    Each item is (name of an operand, text with its registers and element positions).
    """
    return [
        (
            name.replace("_", "-"),
            f"{spec.registers(slots)} `.{spec.type_word(slots)}` `{spec.layout.map(slots, DEFAULT_INPUTS).legend}`",
        )
        for name, spec in form.operands.items()
        if spec.layout is not None and spec.is_fragment
    ]


def _samples(form: Form) -> Iterator[dict[str, str]]:
    """Yield the modifiers of sample opcodes from every row of the Form's table."""
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
    """Return the Markdown page of a checker rule."""
    bad, good = rule.bad.strip("\n"), rule.good.strip("\n")
    again = f" (repeated {rule.repeat} times)" if rule.repeat > 1 else ""
    emits = f"The checker reports this example with the code `{rule.emits}`.\n\n" if rule.emits else ""
    return (
        f"# {escaped(rule.code)}\n\n{rule.what}\n\n{rule.why}\n\nTo fix it: {rule.cure}.\n\n"
        f"The examples are {_SCOPES[rule.scope]}.\n\n"
        f"## Bad{again}\n\n```ptx\n{bad}\n```\n\n{emits}"
        f"## Good\n\n```ptx\n{good}\n```\n\nSource: {rule.source}\n"
    )


def escaped(code: str) -> str:
    """Return a rule code with its special characters escaped for Markdown."""
    return code.replace("<", "\\<")


def table(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows) + "\n"
