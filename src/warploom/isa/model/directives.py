"""Directives between the signature and the body of a function.

Source: PTX ISA 11.4
"""

from collections.abc import Mapping

from warploom.isa.model.availability import Target, Version
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Function


@dataclass(frozen=True, slots=True)
class DirectiveRule:
    """Rule of a directive that takes integers.

    `counts` has the legal numbers of arguments, `least` is the least value of an argument. `number` is the first
    target, such as 90, and `ptx` the first PTX version.
    """

    counts: range
    least: int = 0
    number: int = 0
    ptx: Version = (1, 0)

    def is_available(self, target: Target, ptx: Version) -> bool:
        """Return True if the target and the PTX version have the directive."""
        return target.number >= self.number and ptx >= self.ptx


OF_ENTRIES: Mapping[str, DirectiveRule] = {
    ".maxntid": DirectiveRule(range(1, 4), 1, ptx=(1, 3)),
    ".reqntid": DirectiveRule(range(1, 4), 1, ptx=(2, 1)),
    ".minnctapersm": DirectiveRule(range(1, 2), 1, ptx=(2, 0)),
    ".maxnreg": DirectiveRule(range(1, 2), 1, ptx=(1, 3)),
    ".reqnctapercluster": DirectiveRule(range(1, 4), 0, 90, (7, 8)),
    ".maxclusterrank": DirectiveRule(range(1, 2), 0, 90, (7, 8)),
    ".explicitcluster": DirectiveRule(range(1), 0, 90, (7, 8)),
    ".blocksareclusters": DirectiveRule(range(1), 0, 90, (9, 0)),
    ".pragma": DirectiveRule(range(1)),
}
"""Directives of kernels by name."""

OF_FUNCTIONS: Mapping[str, DirectiveRule] = {
    ".noreturn": DirectiveRule(range(1), ptx=(6, 4)),
    ".abi_preserve": DirectiveRule(range(1, 2), ptx=(9, 0)),
    ".abi_preserve_control": DirectiveRule(range(1, 2), ptx=(9, 0)),
}
"""Directives of device functions by name."""


def directive_rules(function: Function) -> Mapping[str, DirectiveRule]:
    """Return the directives that a function may have, by name."""
    return OF_ENTRIES if function.kind == "entry" else OF_FUNCTIONS
