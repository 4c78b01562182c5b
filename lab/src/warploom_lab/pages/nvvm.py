"""Pages of `docs/nvvm/dialect` about the operations of the dialect."""

import inspect

from warploom.nvvm.dialect import FAMILIES, operations_of
from warploom.nvvm.operation_pages import operation_section
from warploom_lab.pages.tables import markdown

_FOLDER = "nvvm/dialect"
_FAMILY = (
    "To see the operands of an operation of MLIR's `nvvm` dialect, find the section with the name of the operation.",
    "`warploom lower` translates these operations to PTX. The table of a section lists the operands and the results",
    "with their types, and the properties with their values. `any` means any type, and `!unit` means that the property",
    "has no value. The last column states which rows are optional, and the defaults of properties.",
)


def pages() -> dict[str, str]:
    """Return every page as Markdown, by its path in `docs`."""
    found = {f"{_FOLDER}/{name}.md": _family(name) for name in FAMILIES}
    found[f"{_FOLDER}/raising.md"] = _raising()
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
        "- [wgmma-text](wgmma-text.md): A comparison of a reference text on the wgmma operations with MLIR and ptxas.",
        "- [raising](raising.md): The translation of PTX to these operations.",
    ]
    return "\n".join(lines) + "\n"


def _summary(documented: object) -> str:
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())


def _family(name: str) -> str:
    lines = [f"# {name}", "", _summary(FAMILIES[name]), "", *_FAMILY, ""]
    lines.extend(operation_section(operation) for operation in operations_of(FAMILIES[name]))
    return "\n".join(lines).rstrip() + "\n"


# Raising ----------------------------------------------------------------------------------------------------

_RAISING = """\
# Raise PTX to operations

`warploom lower KERNEL.ptx --to nvvm` translates the tensor-core instructions of each kernel to operations of the nvvm
dialect. This translation is called *raising*. An instruction is raised to the operation that `warploom lower` would
translate to this instruction.

- The operations are in the order of the instructions. The output has no control flow, because raising omits labels and
  branches.
- Raising also omits other instructions, such as integer arithmetic, for which the dialect has no operation. If a later
  operation uses a result of an omitted instruction, the result is an argument of the function. Each omitted
  instruction that writes a register adds a new argument. The address of a variable is also an argument.
- If the kernel sets a register to a constant, the operations use the constant. After a label, they use the constant
  only if no other instruction writes the register.
- Some instructions belong to a family that the dialect supports, but no operation is lowered to them. Raising
  translates such an instruction to `nvvm.inline_ptx`, with the values that the instruction reads, changes and writes.
  Examples are predicated instructions without a predicated operation, `wgmma.mma_async` with a scale-d that is not
  constant, sparse multiplications of warpgroups, bulk reductions, and operations on mbarriers at generic addresses.
- If you lower the output again, you get the raised instructions in the same order. They may differ from the original
  only in synonyms: `shared` or `shared::cta`, `tile` or no modifier, the default memory order or no order.

## Operations with the same PTX

If operations were lowered to PTX, raising the PTX restores the operations with their attributes and operands. There
are some exceptions, because several operations can have the same PTX. The table lists the exceptions. If an operation
of the first column has the property of the second column, raising returns the operation of the third column instead.
"""
_ARRIVALS = (
    "nvvm.mbarrier.arrive",
    "nvvm.mbarrier.arrive_drop",
    "nvvm.mbarrier.arrive.expect_tx",
    "nvvm.mbarrier.arrive_drop.expect_tx",
)
ALIASES = (
    (
        ("nvvm.wgmma.mma_async",),
        "`satfinite` has the value `wrapped`",
        "an operation without `satfinite`",
        "PTX has no word for wrapping",
    ),
    (
        (*_ARRIVALS, "nvvm.mbarrier.test.wait", "nvvm.mbarrier.try_wait"),
        "a generic address",
        "an operation with a shared address",
        "MLIR's intrinsics take only shared addresses, so a generic address is converted first",
    ),
    (
        _ARRIVALS[:2],
        "no count, and either the scope of the cluster or a memory order that is not the default",
        "an operation with a count of one",
        "MLIR's intrinsics for this scope and these orders always have a count",
    ),
    (
        _ARRIVALS,
        "no result",
        "an operation with a result",
        "MLIR's PTX names a register for the state, and no instruction reads this register",
    ),
    (
        ("nvvm.mbarrier.try_wait.parity",),
        "every operation",
        "`nvvm.mbarrier.try_wait`, or inline PTX for a generic address",
        "the operation is lowered to a loop around the instruction, and raising omits branches",
    ),
    (
        ("nvvm.tcgen05.commit",),
        "a generic address",
        "an operation with a shared address",
        "MLIR writes `.shared::cluster` for generic and for shared addresses",
    ),
    (
        ("nvvm.memory.barrier",),
        "the scope `cluster`",
        "`nvvm.fence.sc.cluster`",
        "both operations lower to the same fence",
    ),
)
"""Operations that raising from PTX replaces by others: names, condition, replacement and reason."""


def _raising() -> str:
    rows = [(", ".join(f"`{name}`" for name in names), *rest) for names, *rest in ALIASES]
    return "\n".join([_RAISING, *markdown(("operations", "property", "raised to", "reason"), rows)]).rstrip() + "\n"
