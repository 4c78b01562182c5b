"""Generated files of the repository: their creation and their comparison with the checkout."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from warploom_lab.pages import (
    architecture,
    completions,
    concept_pictures,
    debugger,
    grammar,
    kernel_pictures,
    reference,
    speed_pictures,
    stubs,
)

REPOSITORY = Path(__file__).resolve().parents[4]

_TEXTS: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "reference": reference.texts,
    "stubs": stubs.texts,
    "completions": completions.texts,
    "grammar": grammar.texts,
    "architecture": architecture.texts,
    "debugger": debugger.texts,
    "concepts": concept_pictures.texts,
    "kernels": kernel_pictures.texts,
    "speeds": speed_pictures.texts,
}
KINDS = tuple(_TEXTS)
"""Kinds of generated files; notebooks are separate, because they are executed."""


def outdated(kinds: Sequence[str] = KINDS) -> list[str]:
    """Return the paths of generated files that are missing, different or superfluous."""
    return sorted(path for path, text in _wanted(kinds).items() if _content(path) != text)


def write(kinds: Sequence[str] = KINDS) -> list[str]:
    """Write the generated files, remove superfluous ones, and return the paths of changed files."""
    wanted, changed = _wanted(kinds), outdated(kinds)
    for path in changed:
        file, text = REPOSITORY / path, wanted[path]
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return changed


def _wanted(kinds: Sequence[str]) -> dict[str, str | None]:
    """Return the text of each generated file by its path, with None for a superfluous file."""
    wanted: dict[str, str | None] = {}
    if "reference" in kinds:
        wanted |= dict.fromkeys(reference.existing(REPOSITORY))
    for kind in kinds:
        wanted |= _TEXTS[kind]()
    return wanted


def _content(path: str) -> str | None:
    file = REPOSITORY / path
    return file.read_text(encoding="utf-8") if file.exists() else None
