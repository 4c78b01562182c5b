"""Explanations of concepts, such as swizzles and proxies, for the command `warploom explain`."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Concept:
    """Explanation of a concept.

    - `other`: other names of the concept
    - `layout`: arguments of `warploom layout` for an example, or ""
    - `see`: documentation pages and further subjects of `warploom explain`
    """

    name: str
    text: str
    see: tuple[str, ...]
    other: tuple[str, ...] = ()
    layout: str = ""

    def commands(self) -> str:
        """Return the commands that explain the concept and show its example."""
        return _command(self.name) + (f" or warploom layout {self.layout}" if self.layout else "")

    def page(self) -> str:
        """Return the explanation as a Markdown page."""
        example = f"Example: `warploom layout {self.layout}`\n\n" if self.layout else ""
        pointers = (f"`{each}`" if each.startswith("docs/") else f"`{_command(each)}`" for each in self.see)
        return f"# {self.name}\n\n{self.text}\n\n{example}See also: {', '.join(pointers)}\n"


@cache
def concepts() -> dict[str, Concept]:
    """Return every concept by each of its names in lower case."""
    text = files("warploom.view").joinpath("concepts.toml").read_text(encoding="utf-8")
    found: dict[str, Concept] = {}
    for name, record in tomllib.loads(text).items():
        lists = {key: tuple(record.get(key, ())) for key in ("see", "other")}
        concept = Concept(name, record["text"], layout=record.get("layout", ""), **lists)
        found |= dict.fromkeys((name, *concept.other), concept)
    return found


def concept_of(name: str) -> Concept | None:
    """Return the concept with a name such as "Tensor map" or "tensor-map", or None."""
    return concepts().get(name.lower().replace("-", " ")) or concepts().get(name.lower())


def _command(subject: str) -> str:
    return f'warploom explain "{subject}"' if " " in subject else f"warploom explain {subject}"
