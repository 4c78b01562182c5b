"""CTA groups: all tensor-memory instructions of a kernel and its callees must use one `.cta_group`.

Source: PTX ISA 9.7.16.7.1
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.check.body import Body
from warploom.check.report import error
from warploom.diagnostics import Diagnostic
from warploom.isa.model.form import forms
from warploom.ptx import Function, Instruction, Name

_GROUP = "cta_group"
_CALLS = frozenset(form for form in forms() if form.control == "call")
_FORMS = _CALLS | frozenset(
    form for form in forms() if any(word.slot == _GROUP and not word.optional for word in form.syntax.words)
)


@dataclass(slots=True)
class FunctionUse:
    """First instruction with each CTA group in one function, and the names of the called functions."""

    groups: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    callees: set[str] = field(default_factory=set[str])


def function_use(body: Body) -> FunctionUse:
    """Return the CTA groups and the callees of the instructions in a body."""
    use = FunctionUse()
    for index, form in body.with_forms(_FORMS).items():
        instruction = body.steps[index].instruction
        if form in _CALLS:
            use.callees |= {operand.text for operand in instruction.operands if isinstance(operand, Name)}
        else:
            (word,) = form.vocabulary[_GROUP].intersection(instruction.words)
            use.groups.setdefault(word, instruction)
    return use


@dataclass(slots=True)
class CtaGroups:
    """CTA groups of all functions of a module."""

    functions: dict[str, FunctionUse] = field(default_factory=dict[str, FunctionUse])
    kernels: list[str] = field(default_factory=list[str])

    def add(self, function: Function, use: FunctionUse) -> None:
        """Add a function of the module with its CTA groups and callees."""
        self.functions[function.name] = use
        if function.kind == "entry":
            self.kernels.append(function.name)

    def findings(self) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each kernel that uses two CTA groups, itself or through its callees.

        Errors: kernel/granularity
        """
        for kernel in self.kernels:
            groups: dict[str, Instruction] = {}
            for name in self._reached(kernel):
                for word, instruction in self.functions[name].groups.items():
                    groups.setdefault(word, instruction)
            if len(groups) > 1:
                (first, _), (second, other) = list(groups.items())[:2]
                message = f"'{kernel}' has both '.{first}' and '.{second}'; expected one of them throughout"
                yield error("kernel/granularity", message, other, section="PTX ISA 9.7.16.7.1")

    def _reached(self, kernel: str) -> list[str]:
        """Return the names of a kernel and of all functions that it calls, directly or indirectly."""
        reached = [kernel]
        for name in reached:
            reached += sorted((self.functions[name].callees & self.functions.keys()) - {*reached})
        return reached
