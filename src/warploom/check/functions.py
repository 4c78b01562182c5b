"""Functions and their bodies: names are declared as the text goes on, and every statement is judged."""

from __future__ import annotations

from collections.abc import Sequence

from warploom.check import declarations
from warploom.check.bodies import CHECKS, Body, Granularity, Step, Used, used_in
from warploom.check.found import Found, error
from warploom.check.initial import initial_names, initial_value
from warploom.check.linkage import alias, redeclared_function, redeclared_variable
from warploom.check.names import Names
from warploom.check.statements import Statements, undeclared
from warploom.diagnostics import Diagnostic
from warploom.isa.model.availability import Target, Version
from warploom.ptx import (
    Block,
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    Statement,
    TopLevel,
    Variable,
)

TABLES = (".branchtargets", ".callprototype", ".calltargets")
_SCOPE = "PTX ISA 5.4"


class Walk:
    """One walk through a module, from its first item to its last."""

    def __init__(self, module: Module, target: Target, ptx: Version, *, explains: bool = True) -> None:
        self.module = module
        self.target = target
        self.ptx = ptx
        self.statements = Statements(target, ptx, explains=explains)
        self.functions: dict[str, Function] = {}
        self.names = Names(None, self.functions)
        self.granularity = Granularity()
        self.found: list[Found] = []
        self.right: set[int] = set()
        """Instructions that are known to be right where they stand, by their identity."""

    def all(self) -> list[Found]:
        """Everything that is wrong with the items of the module."""
        for item in self.module.items:
            self.item(item)
        self.found.extend(self.granularity.findings())
        return self.found

    def item(self, item: TopLevel) -> None:
        """One item of the module, which those after it know."""
        if isinstance(item, Function):
            self._function(item)
        elif isinstance(item, Variable):
            self._variable(item, self.names, at_module=True)
        elif item.name == ".alias":
            self._alias(item)

    # Declarations ---------------------------------------------------------------------------------------

    def _variable(self, variable: Variable, names: Names, *, at_module: bool) -> None:
        self.found.extend(declarations.variable(variable, self.target, self.ptx, at_module))
        self.found.extend(initial_value(variable, names))
        for name in initial_names(variable):
            if names.find(name) is None:
                self.found.append(_placed(undeclared(name, names, ("all",)), variable))
        again = at_module and "extern" in variable.linkage and names.variable(variable.name) is not None
        before = names.variable(variable.name) if at_module else None
        if before is not None and "extern" in (*before.linkage, *variable.linkage):
            self.found.extend(redeclared_variable(before, variable))
        taken = at_module and variable.name in self.functions
        if taken or (not again and not names.declare(declarations.as_declared(variable))):
            earlier = names.variable(variable.name)
            if earlier is None or "extern" not in earlier.linkage or not at_module:
                self.found.append(self._twice(variable.name, variable))

    def _twice(self, name: str, node: Variable | Function | Label) -> Found:
        shown = f"{name}<…>" if isinstance(node, Variable) and node.count is not None else name
        return error("name/duplicate", f"'{shown}' is declared twice in one scope", node, section=_SCOPE)

    def _function(self, function: Function) -> None:
        earlier = self.functions.get(function.name)
        if function.name in self.names.variables or (
            earlier is not None and earlier.body is not None and function.body is not None
        ):
            self.found.append(self._twice(function.name, function))
        elif earlier is not None:
            self.found.extend(redeclared_function(earlier, function))
        if "extern" in function.linkage and function.body is not None:
            message = f"'{function.name}' is .extern and has a body"
            self.found.append(error("function/linkage", message, function, section="PTX ISA 11.6.1"))
        if earlier is None or function.body is not None:
            self.functions[function.name] = function
        self.found.extend(declarations.parameters(function))
        self.found.extend(declarations.directives(function, self.target, self.ptx))
        names = Names(self.names, self.functions)
        given = "entry" if function.kind == "entry" else "input"
        names.roles |= {parameter.name: given for parameter in function.params}
        names.roles |= {parameter.name: "output" for parameter in function.returns}
        for parameter in (*function.returns, *function.params):
            if parameter.name != "_" and not names.declare(declarations.as_declared(parameter)):
                self.found.append(self._twice(parameter.name, parameter))
        if function.body is not None:
            self.granularity.add(function, self.body(function, function.body, names))

    def _alias(self, directive: Directive) -> None:
        self.found.extend(alias(directive, self.functions, self.ptx))
        for name in directive.names:
            if name not in self.functions:
                self.found.append(_placed(undeclared(name, self.names, ("all",)), directive))

    # Bodies ---------------------------------------------------------------------------------------------

    def body(self, function: Function, block: Block, names: Names) -> Used:
        """The body of a function whose parameters are in `names`."""
        body = self.begun(function)
        self.block(block.statements, names, body)
        for check in CHECKS:
            self.found.extend(check(body))
        return used_in(body)

    def begun(self, function: Function) -> Body:
        """The body of a function, of which nothing is known yet."""
        return Body(function, self.target, self.ptx)

    def block(self, statements: tuple[Statement, ...], names: Names, body: Body) -> None:
        """Statements in a row, in the scope of `names`."""
        shapes = self.statements.scope()
        labels = [statement for statement in statements if isinstance(statement, Label)]
        for label in labels:
            if label.name in names.labels:
                self.found.append(self._twice(label.name, label))
            names.labels[label.name] = label
        last_label: str | None = None
        for statement in statements:
            if isinstance(statement, Instruction) and id(statement) in self.right:
                body.steps.append(Step(statement, names))
            elif isinstance(statement, Instruction):
                self.instruction(statement, names, shapes, body)
            elif isinstance(statement, Label):
                body.label(statement)
                if statement.name in names.variables or statement.name in names.registers:
                    self.found.append(self._twice(statement.name, statement))
                last_label = statement.name
                continue
            elif isinstance(statement, Variable):
                self._variable(statement, names, at_module=False)
                shapes.clear()
            elif isinstance(statement, Block):
                self.block(statement.statements, Names(names, self.functions), body)
            elif statement.name in TABLES:
                if last_label is None:
                    message = f"the {statement.name} has no label to be named by"
                    self.found.append(error("name/table", message, statement, section="PTX ISA 11.3"))
                else:
                    names.tables[last_label] = statement
                self._table(statement, names)
            else:
                self.found.extend(declarations.statement(statement))
            last_label = None

    def _table(self, directive: Directive, names: Names) -> None:
        if not directive.args:
            message = f"the {directive.name} is empty"
            self.found.append(error("name/table", message, directive, section="PTX ISA 11.3"))
        for name in directive.names:
            meaning = names.find(name)
            if directive.name == ".branchtargets":
                right, expected = names.label(name) is not None, "label"
            else:
                right, expected = isinstance(meaning, Function) and meaning.kind == "func", "function"
            if right:
                continue
            if meaning is None:
                self.found.append(_placed(undeclared(name, names, ("all",)), directive))
            else:
                message = f"'{name}' in {directive.name} is no {expected}"
                self.found.append(error("name/table", message, directive, section="PTX ISA 11.3"))

    def instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Found]:
        """An instruction, in the scope of `names`; what is wrong with it."""
        body.steps.append(Step(instruction, names))
        problems = self.statements.check(instruction, names, shapes)
        if instruction.guard is not None:
            wrong = self.statements.guard(instruction, names)
            if wrong is not None:
                problems = [wrong, *problems]
        if not problems:
            return ()
        if self.statements.explains:
            found = [problem.at(instruction) for problem in problems]
        else:
            source, span = instruction.source, instruction.span
            found = [Diagnostic(p.code, p.severity, p.message, source, span) for p in problems]
        self.found += found
        return found


def _placed(problem: object, node: Variable | Directive) -> Diagnostic:
    from warploom.isa.binding.operands import Problem

    assert isinstance(problem, Problem)
    return Diagnostic(
        problem.code, problem.severity, problem.message, node.source, node.span, problem.hint, problem.section
    )
