"""Functions and statements of CUDA C, translated to an MLIR module."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Region

from warploom.nvvm.builtins.c_types import INT, VOID, CType, Value, promoted, wrap
from warploom.nvvm.builtins.declarations import Declarations
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.registry import BY_NAME
from warploom.nvvm.builtins.source import CudaText

_BOUNDS = {
    "__launch_bounds__": {"maxntid": 1024, "minctasm": 32, "cluster_max_blocks": 16},
    "__maxnreg__": {"maxnreg": 255},
    "__cluster_dims__": {"x": 16, "y": 16, "z": 16},
}
"""Attribute and limit for each argument of a bound. The extents of a cluster are one attribute."""


class Translator(Declarations):
    """Translator of one text to the operations of a module."""

    def __init__(self, text: CudaText) -> None:
        super().__init__(text)
        self._result = VOID
        # Blocks for `break` and `continue` in each statement around the current one.
        self._targets: list[tuple[Block, Block | None]] = []

    def module(self) -> ModuleOp:
        """Translate the text. Return the module, with an operation for each call of a builtin in `calls`."""
        for node in self.text.nodes():
            if type(node).__name__ not in ("FuncDef", "Decl", "Typedef"):
                raise self.refused(node)
            self._statement(node)
        declared = [
            llvm.FuncOp(name, _function_type(list(map(memory_type, params)), result), LinkageAttr("external"))
            for name, (result, params) in self.functions.items()
            if name not in self.names
        ]
        return ModuleOp([*declared, *self.operations])

    # Functions ----------------------------------------------------------------------------------------------

    def _do_FuncDef(self, node: Any) -> None:  # noqa: N802
        decl = node.decl
        specifiers = self.specifiers(decl)
        is_kernel = "__global__" in specifiers
        if decl.name in self.names:
            raise self.error(f"'{decl.name}' has a second definition", decl)
        if decl.name in BY_NAME:
            raise self.error(f"'{decl.name}' is a builtin, which a text cannot define", decl)
        self.names.add(decl.name)
        self._result, types = self.signature(decl)
        if is_kernel and self._result != VOID:
            raise self.error(f"expected a kernel to return void, got {self._result}", decl)
        self.entry, self.block = Block(), Block()
        self.region = Region([self.entry, self.block])
        params = decl.type.args.params if types else ()
        with self.scope():
            for each, ctype in zip(params, types, strict=True):
                if each.name is None:
                    raise self.error("expected a name for each parameter", decl)
                if each.name in self.scopes[-1]:
                    raise self.error(f"'{each.name}' is declared twice", each)
                self.parameter(each.name, ctype)
            start = self.block
            for each in node.body.block_items or ():
                self._statement(each)
        # The result of a function that ends without a return statement is undefined.
        self.add(llvm.ReturnOp() if self._result == VOID else llvm.ReturnOp(self.in_memory(Value(self._result))))
        self.entry.add_op(llvm.BrOp(start))
        is_internal = "static" in decl.storage and not is_kernel
        restricted = [
            DictionaryAttr({"llvm.noalias": UnitAttr()} if "restrict" in getattr(each.type, "quals", ()) else {})
            for each in params
        ]
        self.operations.append(
            llvm.FuncOp(
                decl.name,
                _function_type([argument.type for argument in self.entry.args], self._result),
                LinkageAttr("internal" if is_internal else "external"),
                body=self.region,
                other_props={"arg_attrs": ArrayAttr(restricted)} if restricted else {},
                # LLVM must not move a call into a branch if the function contains a barrier.
                extra_attrs={
                    "nvvm.kernel" if is_kernel else "convergent": UnitAttr(),
                    **self._bounds(decl, specifiers, is_kernel=is_kernel),
                },
            )
        )

    def _bounds(self, node: Any, specifiers: dict[str, list[Any]], *, is_kernel: bool) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for word, limits in _BOUNDS.items():
            if word not in specifiers:
                continue
            if not 1 <= len(specifiers[word]) <= len(limits):
                count = f"1 to {len(limits)} arguments" if len(limits) > 1 else "1 argument"
                raise self.error(f"expected {count} of {word}, got {len(specifiers[word])}", node)
            numbers: list[int] = []
            for each, limit in zip(specifiers[word], limits.values(), strict=False):
                if (number := self.constant(each)) is None or number < 1:
                    raise self.error(f"expected a positive constant in {word}", each)
                if number > limit:
                    raise self.error(f"expected at most {limit} in {word}, got {number}", each)
                numbers.append(number)
            if not is_kernel:
                raise self.error(f"expected __global__ with {word}, got a device function", node)
            if word == "__cluster_dims__":
                found["nvvm.cluster_dim"] = DenseArrayBase.from_list(i32, numbers)
                continue
            for name, number in zip(limits, numbers, strict=False):
                is_list = name == "maxntid"
                found[f"nvvm.{name}"] = DenseArrayBase.from_list(i32, [number]) if is_list else IntegerAttr(number, i32)
        return found

    # Statements ---------------------------------------------------------------------------------------------

    def _statement(self, node: Any) -> None:
        if node is not None and type(node).__name__ != "EmptyStatement":
            getattr(self, f"_do_{type(node).__name__}", self.value)(node)

    def _do_Compound(self, node: Any) -> None:  # noqa: N802
        with self.scope():
            for each in node.block_items or ():
                self._statement(each)

    def _branch(self, node: Any, yes: Block, no: Block) -> None:
        """Branch to `yes` if the condition `node` is true or absent (None), otherwise to `no`."""
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
            with self.scope():
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
        with self.scope():
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
        with self.scope():
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
                twice = f"case {number} occurs twice in a switch"
                raise self.error(twice if number in seen else "expected a constant after case", each.expr)
            seen.add(number)
            following = Block()
            equal = self.compare("==", value, Value(value.type, wrap(number, value.type)), value.type)
            self.add(llvm.CondBrOp(self.ssa(equal), block, [], following, []))
            self.start(following)
        self.add(llvm.BrOp(default))
        self.start(Block())
        self._targets.append((end, None))
        blocks = {id(each): block for each, block in cases}
        with self.scope():
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
        raise self.error("cannot lower a case inside another statement; expected it in the braces of a switch", node)

    _do_Default = _do_Case  # noqa: N815


def _function_type(inputs: list[Attribute], result: CType) -> LLVMFunctionType:
    return LLVMFunctionType(inputs, LLVMVoidType() if result == VOID else memory_type(result))
