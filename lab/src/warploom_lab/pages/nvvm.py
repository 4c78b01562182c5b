"""Pages of `docs/nvvm/dialect` about the operations of the dialect."""

import inspect

from warploom.nvvm.dialect import FAMILIES, operations_of
from warploom.nvvm.operation_pages import operation_section

_FOLDER = "nvvm/dialect"
_FAMILY = (
    "`warploom lower` translates these operations to PTX. The table of each operation lists the operands and results",
    "with their types, and the properties with MLIR's values, of which the operation may accept fewer. The numbers of",
    "operands and results are those of MLIR's generic syntax. `any` stands for types that depend on the properties.",
    "`unit` means that the property has no value. The last column states which rows are optional, and the defaults.",
    "",
    "The syntax is in the notation of MLIR's assembly formats: `$name` is an operand or a property, `(…)?` is",
    "optional, `type($name)` is the type of an operand or result, and `attr-dict` is a dictionary of other properties.",
)


def pages() -> dict[str, str]:
    """Return every page as Markdown, by its path in `docs`."""
    found = {f"{_FOLDER}/{name}.md": _family(name) for name in FAMILIES}
    found[f"{_FOLDER}/README.md"] = _index()
    return found


def _index() -> str:
    lines = [
        "# The nvvm dialect",
        "",
        "`warploom lower KERNEL.mlir` reads a file with operations of MLIR 22's nvvm dialect, verifies the operations",
        "and translates them to PTX. The following pages list the supported operations.",
        "",
    ]
    lines += [f"- [{name}]({name}.md): {_summary(family)}" for name, family in FAMILIES.items()]
    lines += [
        "- [wgmma-text](wgmma-text.md): A comparison of a reference text on the wgmma operations with MLIR and ptxas."
    ]
    return "\n".join(lines) + "\n"


def _summary(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _family(name: str) -> str:
    lines = [f"# {name}", "", _summary(FAMILIES[name]), "", *_FAMILY, ""]
    lines.extend(operation_section(operation) for operation in operations_of(FAMILIES[name]))
    return "\n".join(lines).rstrip() + "\n"
