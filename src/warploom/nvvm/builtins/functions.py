"""Functions, statements and declarations of CUDA C, translated to an MLIR module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation, Region

from warploom.diagnostics import Span
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.model.availability import Target
from warploom.nvvm.builtins.c_types import DESCRIPTOR, INT, CType, Value, promoted, wrap
from warploom.nvvm.builtins.declarations import Declarations
from warploom.nvvm.builtins.device_functions import DEVICE_FUNCTIONS
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.expressions import VOID
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.source import CudaText
from warploom.nvvm.builtins.to_nvvm import Call, CallEmitter, select_call

_BOUNDS = {
    "__launch_bounds__": ("maxntid", "minctasm", "cluster_max_blocks"),
    "__maxnreg__": ("maxnreg",),
    "__cluster_dims__": ("cluster_dim",),
}
"""Attribute for each argument of a bound of a kernel."""
_LISTS = frozenset({"maxntid", "cluster_dim"})


class Translator(Declarations):
    """Translator of one text to the operations of a module."""

    def __init__(self, text: CudaText, target: Target, spaces: dict[object, str]) -> None:
        super().__init__(text, spaces)
        self._target = target
        self._region = Region()
        self._result = VOID
        self._targets: list[tuple[Block, Block | None]] = []
        self.calls: list[Call] = []
        self.spans: dict[Operation, Span] = {}

    def module(self) -> ModuleOp:
        """Translate the text. Return the module."""
        for node in self.text.nodes():
            match type(node).__name__:
                case "FuncDef":
                    self._definition(node)
                case "Decl":
                    self._declare(node)
                case "Typedef":
                    self._typedef(node)
                case _:
                    raise self.refused(node)
        declared = [function for name, function in self._prototypes.items() if name not in self._names]
        return ModuleOp([*declared, *self.operations])

    # Functions ----------------------------------------------------------------------------------------------

    def _definition(self, node: Any) -> None:
        decl = node.decl
        specifiers = self._specifiers(decl)
        self._function, self._is_kernel = decl.name, "__global__" in specifiers
        if decl.name in self._names:
            raise self.error(f"'{decl.name}' has a second definition", decl)
        if decl.name in BY_NAME:
            raise self.error(f"'{decl.name}' is a builtin, which a text cannot define", decl)
        self._names.add(decl.name)
        self._result, params = self._signature(decl)
        if self._is_kernel and self._result != VOID:
            raise self.error(f"expected a kernel to return void, got {self._result}", decl)
        self._entry, body = Block(), Block()
        self._region = Region([self._entry, body])
        self.block = body
        self._targets = []
        self._modified = set(_modified(node.body))
        with self._scope():
            named = [each for each in (decl.type.args.params if decl.type.args else ()) if each.name is not None]
            if len(named) != len(params):
                raise self.error("expected a name for each parameter", decl)
            for each, ctype in zip(named, params, strict=True):
                self._parameter(each.name, ctype, (each.name, self.text.span(each).start))
            self._statement(node.body)
        if self._result == VOID:
            self.add(llvm.ReturnOp())
        else:
            self.add(llvm.UnreachableOp())
        self._entry.add_op(llvm.BrOp(body))
        self._remove_unreachable()
        inputs = [argument.type for argument in self._entry.args]
        kind = LLVMFunctionType(inputs, LLVMVoidType() if self._result == VOID else memory_type(self._result))
        linkage = LinkageAttr("internal" if "static" in decl.storage and not self._is_kernel else "external")
        restricted = [
            DictionaryAttr({"llvm.noalias": UnitAttr()} if "restrict" in getattr(each.type, "quals", ()) else {})
            for each in (decl.type.args.params if decl.type.args and params else ())
        ]
        others: dict[str, Attribute | None] = {"arg_attrs": ArrayAttr(restricted)} if restricted else {}
        self.operations.append(
            llvm.FuncOp(
                decl.name,
                kind,
                linkage,
                body=self._region,
                other_props=others,
                extra_attrs=self._bounds(decl, specifiers),
            )
        )

    def _bounds(self, node: Any, specifiers: dict[str, list[Any]]) -> dict[str, Attribute]:
        """Return the attributes of a function."""
        # LLVM must not move a call into a branch if the function contains a barrier.
        found: dict[str, Attribute] = {"nvvm.kernel" if self._is_kernel else "convergent": UnitAttr()}
        for word, names in _BOUNDS.items():
            if word not in specifiers:
                continue
            numbers: list[int] = []
            for each in specifiers[word]:
                if (number := self.constant(each)) is None or number < 1:
                    raise self.error(f"expected a positive constant in {word}", each)
                numbers.append(number)
            if not self._is_kernel:
                raise self.error(f"expected {word} at a kernel, got a function", node)
            parts = [numbers] if word == "__cluster_dims__" else [[number] for number in numbers]
            for name, part in zip(names, parts, strict=False):
                is_list = name in _LISTS
                found[f"nvvm.{name}"] = DenseArrayBase.from_list(i32, part) if is_list else IntegerAttr(part[0], i32)
        return found

    def _remove_unreachable(self) -> None:
        reached: set[Block] = set()
        pending = [self._entry]
        while pending:
            if (block := pending.pop()) not in reached:
                reached.add(block)
                pending += block.last_op.successors if block.last_op is not None else ()
        dead = [block for block in self._region.blocks if block not in reached]
        for block in dead:
            for operation in block.ops:
                operation.drop_all_references()
        for block in dead:
            self._region.erase_block(block, safe_erase=False)

    def start(self, *blocks: Block) -> None:
        """Add blocks to the function and continue at the last one."""
        for block in blocks:
            self._region.add_block(block)
            self.block = block

    # Statements ---------------------------------------------------------------------------------------------

    def _statement(self, node: Any) -> None:
        if node is not None:
            getattr(self, f"_do_{type(node).__name__}", self._do_expression)(node)

    def _do_expression(self, node: Any) -> None:
        self.value(node)

    def _do_Compound(self, node: Any) -> None:  # noqa: N802
        with self._scope():
            for each in node.block_items or ():
                self._statement(each)

    def _do_EmptyStatement(self, node: Any) -> None:  # noqa: N802
        pass

    def _do_Decl(self, node: Any) -> None:  # noqa: N802
        self._declare(node)

    def _do_DeclList(self, node: Any) -> None:  # noqa: N802
        for each in node.decls:
            self._declare(each)

    def _do_Typedef(self, node: Any) -> None:  # noqa: N802
        self._typedef(node)

    def _branch(self, node: Any, yes: Block, no: Block) -> None:
        """Branch to `yes` if the condition `node` is true, otherwise to `no`. No condition is true."""
        condition = Value(INT, 1) if node is None else self.condition(node)
        if condition.constant is not None:
            self.add(llvm.BrOp(yes if condition.constant else no))
        else:
            self.add(llvm.CondBrOp(self.ssa(condition), yes, [], no, []))

    def _do_If(self, node: Any) -> None:  # noqa: N802
        yes, no, end = Block(), Block(), Block()
        self._branch(node.cond, yes, no)
        for block, branch in ((yes, node.iftrue), (no, node.iffalse)):
            self.start(block)
            with self._scope():
                self._statement(branch)
            self.add(llvm.BrOp(end))
        self.start(end)

    def _loop(self, node: Any, condition: Any, following: Any, *, tests_first: bool = True) -> None:
        head, body, after, end = Block(), Block(), Block(), Block()
        self.add(llvm.BrOp(head if tests_first else body))
        self.start(head)
        self._branch(condition, body, end)
        self.start(body)
        self._targets.append((end, after))
        with self._scope():
            self._statement(node.stmt)
        self._targets.pop()
        self.add(llvm.BrOp(after))
        self.start(after)
        self._statement(following)
        self.add(llvm.BrOp(head))
        self.start(end)

    def _do_While(self, node: Any) -> None:  # noqa: N802
        self._loop(node, node.cond, None)

    def _do_DoWhile(self, node: Any) -> None:  # noqa: N802
        self._loop(node, node.cond, None, tests_first=False)

    def _do_For(self, node: Any) -> None:  # noqa: N802
        with self._scope():
            self._statement(node.init)
            self._loop(node, node.cond, node.next)

    def _jump(self, node: Any, at: int) -> None:
        found = next((pair[at] for pair in reversed(self._targets) if pair[at] is not None), None)
        if found is None:
            word = type(node).__name__.lower()
            raise self.error(f"expected {word} in a loop{' or a switch' * (word == 'break')}", node)
        self.add(llvm.BrOp(found))
        self.start(Block())

    def _do_Break(self, node: Any) -> None:  # noqa: N802
        self._jump(node, 0)

    def _do_Continue(self, node: Any) -> None:  # noqa: N802
        self._jump(node, 1)

    def _do_Return(self, node: Any) -> None:  # noqa: N802
        if (node.expr is None) != (self._result == VOID):
            got = "none" if node.expr is None else "one"
            raise self.error(f"expected {'no value' if got == 'one' else 'a value'} in return, got {got}", node)
        if node.expr is None:
            self.add(llvm.ReturnOp())
        else:
            value = self.implicit(self.value(node.expr, self._result), self._result, node.expr)
            self.add(llvm.ReturnOp(self.in_memory(value)))
        self.start(Block())

    def _do_Switch(self, node: Any) -> None:  # noqa: N802
        value = self.value(node.cond, INT)
        if not value.type.is_integer:
            raise self.error(f"expected an integer in switch, got {value.type}", node.cond)
        value = self.convert(value, promoted(value.type))
        items = (node.stmt.block_items or ()) if type(node.stmt).__name__ == "Compound" else [node.stmt]
        cases = [(each, Block()) for each in items if type(each).__name__ in ("Case", "Default")]
        end = Block()
        default = next((block for each, block in cases if type(each).__name__ == "Default"), end)
        seen: set[int] = set()
        for each, block in cases:
            if type(each).__name__ == "Default":
                continue
            if (number := self.constant(each.expr)) is None or number in seen:
                problem = "one value in each case" if number in seen else "a constant after case"
                raise self.error(f"expected {problem}", each.expr)
            seen.add(number)
            following = Block()
            equal = self.compare("==", value, Value(value.type, wrap(number, value.type)), value.type)
            self.add(llvm.CondBrOp(self.ssa(equal), block, [], following, []))
            self.start(following)
        self.add(llvm.BrOp(default))
        self.start(Block())
        self._targets.append((end, None))
        blocks = {id(each): block for each, block in cases}
        with self._scope():
            for each in items:
                if (block := blocks.get(id(each))) is None:
                    self._statement(each)
                    continue
                self.add(llvm.BrOp(block))
                self.start(block)
                for statement in each.stmts or ():
                    self._statement(statement)
        self._targets.pop()
        self.add(llvm.BrOp(end))
        self.start(end)

    def _do_Case(self, node: Any) -> None:  # noqa: N802
        raise self.error("expected case directly in the braces of a switch", node)

    _do_Default = _do_Case  # noqa: N815

    # Calls --------------------------------------------------------------------------------------------------

    def call(self, name: str, node: Any) -> Value:
        """Return the result of a call."""
        if (builtin := BY_NAME.get(name)) is not None:
            self._builtin(builtin, node)
            return Value(VOID)
        arguments: list[Any] = node.args.exprs if node.args else []
        if name not in self._functions:
            if (found := self.device_function(name, node, arguments)) is not None:
                return found
            names = (*self._functions, *BY_NAME, *DEVICE_FUNCTIONS)
            raise self.error(f'identifier "{name}" is undefined', node, did_you_mean(name, names))
        result, params = self._functions[name]
        if len(arguments) != len(params):
            raise self.error(f"expected {len(params)} arguments of '{name}', got {len(arguments)}", node)
        values = [
            self.in_memory(self.implicit(self.value(each, ctype), ctype, each))
            for each, ctype in zip(arguments, params, strict=True)
        ]
        kind = None if result == VOID else memory_type(result)
        operation = self.add(llvm.CallOp(name, *values, return_type=kind))
        return Value(VOID) if operation.returned is None else self.from_memory(operation.returned, result)

    def _builtin(self, builtin: Builtin, node: Any) -> None:
        spans = self.text.arguments(node)
        values = [
            (self.value(each, expected_type(builtin, at)), spans[at])
            for at, each in enumerate(node.args.exprs if node.args else ())
        ]
        call = select_call(self.text.source, builtin, self.text.whole(node), values, self._target)
        for operand, position in call.selection.fragments.items():
            value, span = values[position]
            count = call.selection.registers(operand)
            size = count * (8 if builtin.unit == "dmma" else 4)
            if value.room and value.offset + size > value.room:
                found = (value.room - value.offset) // (size // count)
                message = f"expected an array with space for {count} registers of '{operand}', got space for {found}"
                raise self.text.error(message, span, code="builtin.operand")
        self.calls.append(call)
        last = self.block.last_op
        CallEmitter(self, call).emit()
        made = self.block.first_op if last is None else last.next_op
        while made is not None:
            self.spans[made] = call.span
            made = made.next_op


def expected_type(builtin: Builtin, position: int) -> CType:
    """Return the C type that an undeclared name has as the argument with the index `position`."""
    if position >= len(builtin.parameters):
        return DESCRIPTOR
    parameter = builtin.parameters[position]
    base = "float" if parameter.base == "void" else parameter.base
    return CType(base, int(parameter.pointer), parameter.const)


def _modified(node: Any) -> Iterator[str]:
    """Yield the names of the variables in a tree that are assigned, or whose address is taken."""
    pending = [node]
    while pending:
        each = pending.pop()
        pending += [child for _, child in each.children()]
        match type(each).__name__:
            case "Assignment":
                yield getattr(each.lvalue, "name", "")
            case "UnaryOp" if each.op.strip("p") in ("++", "--", "&"):
                yield getattr(each.expr, "name", "")
            case "FuncCall" if type(each.name).__name__ == "Constant" and each.args:  # an operand of inline assembly
                yield from (getattr(operand, "name", "") for operand in each.args.exprs)
            case _:
                pass
