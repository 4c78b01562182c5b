"""Check of a module: its declarations, and every statement of every function."""

from collections.abc import Callable, Sequence

from warploom.check import declarations
from warploom.check.body import Body, Step
from warploom.check.cta_groups import CtaGroups, FunctionUse, function_use
from warploom.check.header import HEADER_ITEMS, check_header
from warploom.check.instruction_checker import InstructionChecker
from warploom.check.names import Names
from warploom.check.register_count import register_counts
from warploom.check.report import error
from warploom.check.warpgroup_order import warpgroup_order
from warploom.diagnostics import Diagnostic
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Block, Directive, Function, Instruction, Label, Module, Statement, TopLevel, Variable

TABLES = (".branchtargets", ".callprototype", ".calltargets")


_OF_MODULES = (".alias", ".file", ".pragma", ".section", ".version", ".target", ".address_size")


class ModuleChecker:
    """Checker of one module. `diagnostics` holds all diagnostics so far."""

    def __init__(self, module: Module, target: Target, ptx: Version) -> None:
        self.module = module
        self.target = target
        self.ptx = ptx
        self.instructions = InstructionChecker(target, ptx)
        self.functions: dict[str, Function] = {}
        self.names = Names(None, self.functions)
        self.cta_groups = CtaGroups()
        self.diagnostics: list[Diagnostic] = []
        self.correct: set[int] = set()  # identities of instructions that need no check

    def check_module(self) -> list[Diagnostic]:
        """Check every item of the module. Return all diagnostics."""
        for item in self.module.items:
            self.check_item(item)
        self.diagnostics.extend(self.cta_groups.findings())
        return self.diagnostics

    def check_item(self, item: TopLevel) -> None:
        """Check one item of the module, and declare its names."""
        if isinstance(item, Function):
            self._function(item)
        elif isinstance(item, Variable):
            self._variable(item, self.names, at_module=True)
        elif item.name == ".alias":
            self.diagnostics.extend(declarations.alias(item, self.functions, self.ptx))
            for name in item.names:
                if name not in self.functions:
                    self._undeclared(name, self.names, item)
        elif item.name not in _OF_MODULES:
            message = f"{item.name} is no directive of modules; expected {', '.join(_OF_MODULES)}"
            self.diagnostics.append(error("directive/unknown", message, item, section="PTX ISA 4.3.1"))

    # Declarations ---------------------------------------------------------------------------------------

    def _variable(self, variable: Variable, names: Names, *, at_module: bool) -> None:
        self.diagnostics.extend(declarations.variable(variable, self.target, self.ptx, at_module))
        self.diagnostics.extend(declarations.initial_value(variable, names))
        for name in declarations.initial_names(variable):
            if names.find(name) is None:
                self._undeclared(name, names, variable)
        before = names.variable(variable.name) if at_module else None
        if before is not None and "extern" in (*before.linkage, *variable.linkage):
            self.diagnostics.extend(declarations.redeclared_variable(before, variable))
        taken = at_module and variable.name in self.functions
        again = before is not None and "extern" in variable.linkage
        if taken or (not again and not names.declare(declarations.as_declared(variable))):
            earlier = names.variable(variable.name)
            if earlier is None or "extern" not in earlier.linkage or not at_module:
                self._duplicate(variable.name, variable)

    def _duplicate(self, name: str, node: Variable | Function | Label) -> None:
        shown = f"{name}<…>" if isinstance(node, Variable) and node.count is not None else name
        message = f"'{shown}' is declared twice in one scope"
        self.diagnostics.append(error("name/duplicate", message, node, section="PTX ISA 5.4"))

    def _undeclared(self, name: str, names: Names, node: Variable | Directive) -> None:
        problem = names.undeclared(name)
        self.diagnostics.append(error(problem.code, problem.message, node, problem.hint, problem.section))

    def _function(self, function: Function) -> None:
        earlier = self.functions.get(function.name)
        if function.name in self.names.variables or (
            earlier is not None and earlier.body is not None and function.body is not None
        ):
            self._duplicate(function.name, function)
        elif earlier is not None:
            self.diagnostics.extend(declarations.redeclared_function(earlier, function))
        if "extern" in function.linkage and function.body is not None:
            message = f"'{function.name}' is .extern and has a body"
            self.diagnostics.append(error("function/linkage", message, function, section="PTX ISA 11.6.1"))
        if earlier is None or function.body is not None:
            self.functions[function.name] = function
        self.diagnostics.extend(declarations.parameters(function))
        self.diagnostics.extend(declarations.directives(function, self.target, self.ptx))
        names = Names(self.names, self.functions)
        given = "entry" if function.kind == "entry" else "input"
        names.roles |= {parameter.name: given for parameter in function.params}
        names.roles |= {parameter.name: "output" for parameter in function.returns}
        for parameter in (*function.returns, *function.params):
            if parameter.name != "_" and not names.declare(declarations.as_declared(parameter)):
                self._duplicate(parameter.name, parameter)
        if function.body is not None:
            self.cta_groups.add(function, self.check_body(function, function.body, names))

    # Bodies ---------------------------------------------------------------------------------------------

    def check_body(self, function: Function, block: Block, names: Names) -> FunctionUse:
        """Check the body of a function in the scope `names`. Return its callees and CTA groups."""
        body = self.new_body(function)
        self.check_block(block.statements, names, body)
        self.diagnostics.extend(warpgroup_order(body))
        self.diagnostics.extend(register_counts(body))
        return function_use(body)

    def new_body(self, function: Function) -> Body:
        """Return an empty body for the instructions of a function."""
        return Body(function, self.target, self.ptx)

    def check_block(self, statements: tuple[Statement, ...], names: Names, body: Body) -> None:
        """Check the statements of a block in its scope `names`, and add its instructions to `body`."""
        shapes: dict[int, int] = {}
        labels = [statement for statement in statements if isinstance(statement, Label)]
        for label in labels:
            if label.name in names.labels:
                self._duplicate(label.name, label)
            names.labels[label.name] = label
        last_label: str | None = None
        for statement in statements:
            if isinstance(statement, Instruction) and id(statement) in self.correct:
                body.steps.append(Step(statement, names))
            elif isinstance(statement, Instruction):
                self.check_instruction(statement, names, shapes, body)
            elif isinstance(statement, Label):
                body.label(statement)
                if statement.name in names.variables or statement.name in names.registers:
                    self._duplicate(statement.name, statement)
                last_label = statement.name
                continue
            elif isinstance(statement, Variable):
                self._variable(statement, names, at_module=False)
                shapes.clear()
            elif isinstance(statement, Block):
                self.check_block(statement.statements, Names(names, self.functions), body)
            elif statement.name in TABLES:
                self._table(statement, names, last_label)
            else:
                self.diagnostics.extend(declarations.statement(statement))
            last_label = None

    def _table(self, directive: Directive, names: Names, label: str | None) -> None:
        kind = directive.name
        if label is None:
            self._table_fault(directive, f"the {kind} has no label; expected a label before it")
        else:
            names.tables[label] = directive
        if not directive.args:
            self._table_fault(directive, f"the {kind} is empty; expected at least one entry")
        for name in directive.names:
            found = names.find(name)
            if kind == ".branchtargets":
                right, expected = names.label(name) is not None, "label"
            else:
                right, expected = isinstance(found, Function) and found.kind == "func", "function"
            if found is None and not right:
                self._undeclared(name, names, directive)
            elif not right:
                self._table_fault(directive, f"'{name}' in {kind} is not a {expected}")

    def _table_fault(self, directive: Directive, message: str) -> None:
        self.diagnostics.append(error("name/table", message, directive, section="PTX ISA 11.3"))

    def check_instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Diagnostic]:
        """Check an instruction in the scope `names`, add it to `body`, and return its diagnostics.

        `shapes` is a cache for the instructions of one scope (see `InstructionChecker.check`).
        """
        body.steps.append(Step(instruction, names))
        problems = self.instructions.check(instruction, names, shapes)
        if instruction.guard is not None:
            wrong = self.instructions.check_guard(instruction.guard, names)
            if wrong is not None:
                problems = [wrong, *problems]
        if not problems:
            return ()
        found = [problem.at(instruction) for problem in problems]
        self.diagnostics += found
        return found


def check_parsed(
    module: Module | None, syntax_errors: Sequence[Diagnostic], target: Target | None, ptx: Version | None,
    make_checker: Callable[[Module, Target, Version], ModuleChecker],
) -> list[Diagnostic]:  # fmt: skip
    """Return the syntax errors of a text, followed by the diagnostics for the parsed module.

    `module` lacks the statements with syntax errors. `target` and `ptx`, if not None, replace those of the header.
    `make_checker` returns the checker for the items after the header.
    """
    if module is None or len(module.items) < HEADER_ITEMS:
        return list(syntax_errors)
    target, ptx, found = check_header(module, target, ptx)
    if syntax_errors:
        # A missing directive may be one with a syntax error.
        found = [each for each in found if each.span is not None]
    found += make_checker(module, target, ptx).check_module()
    # A declaration with a syntax error hides its names.
    if any(_may_declare(error) for error in syntax_errors):
        found = [each for each in found if each.code != "name/undeclared"]
    return [*syntax_errors, *found]


def _may_declare(error: Diagnostic) -> bool:
    if error.source is None or error.span is None:
        return True
    line, _ = error.source.position(error.span.start)
    return error.source.line_text(line).lstrip().startswith((".", "{"))
