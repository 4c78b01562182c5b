"""Check of parts of a module that its target or its PTX version may lack."""

from collections.abc import Collection, Sequence

from warploom.check import declarations
from warploom.check.body import Body
from warploom.check.header import check_header
from warploom.check.module_checker import ModuleChecker
from warploom.check.names import Names
from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Function, Instruction, Module

_DIRECTIVE_CODES = frozenset({"directive/target", "directive/ptx"})


def errors_of(
    module: Module, functions: Collection[Function], instructions: Collection[Instruction]
) -> list[Diagnostic]:
    """Return the errors of `check` for a header, the directives of functions, and some instructions.

    For the header and the directives, these are the errors about the target and the PTX version.
    """
    target, ptx, header = check_header(module, None, None)
    found = [each for each in header if each.code == "module/version"] if module.version < target.first_version else []
    for function in functions:
        directives = declarations.directives(function, target, ptx)
        found += [each for each in directives if each.code in _DIRECTIVE_CODES]
    if instructions:
        checker = _Checker(module, target, ptx, {id(each) for each in instructions})
        checker.check_module()
        found += checker.found
    return [each for each in found if each.severity is Severity.ERROR]


class _Checker(ModuleChecker):
    """Checker of the instructions with some identities. `found` has their diagnostics."""

    def __init__(self, module: Module, target: Target, ptx: Version, identities: Collection[int]) -> None:
        super().__init__(module, target, ptx)
        self.identities = identities
        self.found: list[Diagnostic] = []

    def check_instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Diagnostic]:
        """Check an instruction if it is one of those that were asked for."""
        if id(instruction) not in self.identities:
            return ()
        problems = super().check_instruction(instruction, names, shapes, body)
        self.found += problems
        return problems
