"""Reference pages of instruction families and rules, made from the Forms and the rule records."""

from __future__ import annotations

import re
from collections.abc import Iterable

from warploom.check.pages import escaped, form_section, rule_page
from warploom.check.rules import rules
from warploom.isa import instructions
from warploom.isa.model.form import Form, forms


def reference_pages(more_rules: Iterable[tuple[str, str, str]] = ()) -> dict[str, str]:
    """Return the pages in `docs/isa` and `docs/rules`, by their paths in `docs`.

    `more_rules` are rules outside the checker: code, description and page.
    """
    pages: dict[str, str] = {}
    index = ["# Instructions\n"]
    for family, members in _families().items():
        summary = _summary(family)
        sections = "\n".join(form_section(form) for form in members)
        pages[f"isa/{family}.md"] = f"# {family}\n\n{summary}\n\n{sections}"
        index.append(f"- [{family}]({family}.md): {summary}")
    pages["isa/README.md"] = "\n".join(index) + "\n"
    index = ["# Rules\n"]
    own = ((code, rule.what, rule_page(rule)) for code, rule in rules().items())
    for code, what, page in (*own, *more_rules):
        name = re.sub(r"[^\w.-]+", "-", code).strip("-") + ".md"
        pages[f"rules/{name}"] = page
        index.append(f"- [{escaped(code)}]({name}): {what.split('. ')[0].rstrip('.')}.")
    pages["rules/README.md"] = "\n".join(index) + "\n"
    return pages


def _families() -> dict[str, list[Form]]:
    """Return every Form, by its family."""
    found: dict[str, list[Form]] = {}
    for form in forms():
        found.setdefault(form.family, []).append(form)
    return dict(sorted(found.items()))


def _summary(family: str) -> str:
    """Return the first paragraph of a family's module docstring."""
    text = getattr(instructions, family, None).__doc__ or ""
    return text.strip().split("\n\n")[0].replace("\n", " ")
