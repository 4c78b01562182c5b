"""PTX templates from which the kernels of experiments are built."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _parts() -> dict[str, Template]:
    text = (files("warploom_lab.campaign") / "harness.ptx").read_text()
    sections = text.split("//! ")[1:]
    return {name: Template(body.strip("\n")) for name, _, body in (s.partition("\n") for s in sections)}


def part(name: str, **words: object) -> str:
    """Return the section `name` of `harness.ptx`. `words` replace its placeholders."""
    return _parts()[name].substitute(words)
