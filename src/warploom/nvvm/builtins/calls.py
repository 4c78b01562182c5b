"""Calls in CUDA C: functions of the text, functions that CUDA declares, builtins, and inline assembly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i64
from xdsl.dialects.llvm import LLVMStructType, LLVMVoidType
from xdsl.ir import Operation, SSAValue

from warploom.diagnostics import Span
from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.builtins.c_types import BOOL, DOUBLE, FLOAT, INT, SIZE, UNSIGNED, VOID, CType, Value, common
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.expressions import Expressions
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.source import SECTION, CudaText
from warploom.nvvm.builtins.variables import Place

_ADDRESS = "__cvta_generic_to_shared"
_ALL = Value(UNSIGNED, 0xFFFFFFFF)
_EVERY_LANE = Value(UNSIGNED, 31)
_NOTHING = Value(UNSIGNED, 0)
_REAL = {
    name + suffix: (f"llvm.{word}.{kind}", ctype, (ctype,) * count)
    for name, word, count in (("fma", "fma", 3), ("fmin", "minnum", 2), ("fmax", "maxnum", 2), ("fabs", "fabs", 1),
                              ("sqrt", "sqrt", 1), ("floor", "floor", 1), ("ceil", "ceil", 1))
    for suffix, kind, ctype in (("f", "f32", FLOAT), ("", "f64", DOUBLE))
}  # fmt: skip
_SHUFFLES = {
    f"__shfl{name}_sync": (f"llvm.nvvm.shfl.sync.{word}.i32", INT, (UNSIGNED, INT, UNSIGNED, last))
    for name, word, last in (("", "idx", _EVERY_LANE), ("_up", "up", _NOTHING), ("_down", "down", _EVERY_LANE),
                             ("_xor", "bfly", _EVERY_LANE))
}  # fmt: skip
_FUNCTIONS: dict[str, tuple[str, CType, tuple[CType | Value, ...]]] = {
    "__syncthreads": ("llvm.nvvm.barrier.cta.sync.aligned.all", VOID, (_NOTHING,)),
    "__syncwarp": ("llvm.nvvm.bar.warp.sync", VOID, (_ALL,)),
    "__threadfence_block": ("llvm.nvvm.membar.cta", VOID, ()),
    "__threadfence": ("llvm.nvvm.membar.gl", VOID, ()),
    "__threadfence_system": ("llvm.nvvm.membar.sys", VOID, ()),
    "__activemask": ("llvm.nvvm.activemask", UNSIGNED, ()),
    "__any_sync": ("llvm.nvvm.vote.any.sync", BOOL, (UNSIGNED, BOOL)),
    "__all_sync": ("llvm.nvvm.vote.all.sync", BOOL, (UNSIGNED, BOOL)),
    "__ballot_sync": ("llvm.nvvm.vote.ballot.sync", UNSIGNED, (UNSIGNED, BOOL)),
    "__popc": ("llvm.ctpop.i32", INT, (UNSIGNED,)),
    "__brev": ("llvm.bitreverse.i32", UNSIGNED, (UNSIGNED,)),
    _ADDRESS: ("", SIZE, (CType("void", 1, const=True),)),
    "min": ("", INT, (INT, INT)),
    "max": ("", INT, (INT, INT)),
    **_REAL,
    **_SHUFFLES,
}
"""Intrinsic of LLVM, type of the result, and types of the parameters of each function of CUDA.

The intrinsic is "" if there is none. A value in place of a type is an argument that the call does not state.
"""
_CONSTRAINT = re.compile(r"(=|\+|=&|\+&|)([hrlfd])")


@dataclass(frozen=True, slots=True)
class CallText:
    """Call of a builtin in a text: its span, and its arguments with their spans."""

    builtin: Builtin
    span: Span
    arguments: tuple[tuple[Value, Span], ...]


class Calls(Expressions):
    """Walk over expressions with calls.

    `functions` has the types of the result and of the parameters of each function in the text. A builtin's call is an
    operation in `calls`, without arguments, in place of the operations of the nvvm dialect.
    """

    def __init__(self, text: CudaText) -> None:
        super().__init__(text)
        self.functions: dict[str, tuple[CType, tuple[CType, ...]]] = {}
        self.kernels: set[str] = set()
        self.calls: dict[Operation, CallText] = {}

    def _visit_FuncCall(self, node: Any) -> Value:  # noqa: N802
        if type(node.name).__name__ != "ID":
            raise self.error("expected the name of a function before (", node)
        name: str = node.name.name
        arguments: list[Any] = node.args.exprs if node.args else []
        if name == "__asm__":
            return self._asm(node, arguments)
        if (builtin := BY_NAME.get(name)) is not None:
            return self._builtin(builtin, node, arguments)
        if name in self.kernels:
            raise self.error(f"cannot call the kernel '{name}'; expected a function", node)
        if name in self.functions:
            result, params = self.functions[name]
            operands = [self.in_memory(each) for each in self._converted_arguments(node, arguments, params)]
            operation = self.add(
                llvm.CallOp(name, *operands, return_type=None if result == VOID else memory_type(result))
            )
            return Value(VOID) if operation.returned is None else self.from_memory(operation.returned, result)
        if name in _FUNCTIONS:
            return self._device_function(name, node, arguments)
        names = (*self.functions, *BY_NAME, *_FUNCTIONS)
        raise self.error(f'identifier "{name}" is undefined', node, did_you_mean(name, names))

    def _builtin(self, builtin: Builtin, node: Any, arguments: Sequence[Any]) -> Value:
        spans = self.text.arguments(node)
        values = [(self.value(each, builtin.expected_type(at)), spans[at]) for at, each in enumerate(arguments)]
        self.calls[self.add(llvm.CallOp(builtin.name))] = CallText(builtin, self.text.whole(node), tuple(values))
        return Value(VOID)

    def _converted_arguments(self, node: Any, arguments: Sequence[Any], types: Sequence[CType]) -> list[Value]:
        if len(arguments) != len(types):
            raise self.error(f"expected {len(types)} arguments of '{node.name.name}', got {len(arguments)}", node)
        return [
            self.implicit(self.value(each, ctype), ctype, each) for each, ctype in zip(arguments, types, strict=True)
        ]

    # Functions that CUDA declares ---------------------------------------------------------------------------

    def _device_function(self, name: str, node: Any, arguments: Sequence[Any]) -> Value:
        intrinsic, result, params = _FUNCTIONS[name]
        types = [each for each in params if isinstance(each, CType)]
        extra = [each for each in params if isinstance(each, Value)]
        if name == "__syncwarp" and arguments:
            types, extra = [UNSIGNED], []
        if name in _SHUFFLES and len(arguments) == len(types) + 1:
            # The width of a segment of the warp.
            *arguments, last = arguments
            width = self.implicit(self.value(last, INT), INT, last)
            rest = self.arithmetic("<<", self.arithmetic("-", Value(INT, 32), width), Value(INT, 8))
            extra = [self.convert(self.arithmetic("|", rest, extra[0]), UNSIGNED)]
        if name in _SHUFFLES and len(arguments) == len(types):
            kind = self.without_effects(arguments[1]).type.plain
            if kind == FLOAT:
                intrinsic, types[1] = intrinsic.replace("i32", "f32"), FLOAT
            result = kind if kind in (FLOAT, UNSIGNED) else INT
        if name in ("min", "max") and len(arguments) == len(types):
            values = [self.value(each, INT) for each in arguments]
            if not all(each.type.is_integer for each in values):
                raise self.error(f"expected integers in {name}; use f{name}f for floating-point values", node)
            result = common(values[0].type, values[1].type)
            intrinsic = f"llvm.{'u' if result.is_unsigned else 's'}{name}.i{8 * result.size}"
            return self.intrinsic(intrinsic, [self.ssa(self.convert(each, result)) for each in values], result)
        values = self._converted_arguments(node, arguments, types)
        if name == _ADDRESS:
            return Value(result, None, self.result(llvm.PtrToIntOp(self.in_space(values[0], "shared"), i64)))
        return self.intrinsic(intrinsic, [self.ssa(each) for each in (*values, *extra)], result)

    # Inline assembly ----------------------------------------------------------------------------------------

    def _asm(self, node: Any, arguments: Sequence[Any]) -> Value:
        sections: list[list[Any]] = [[]]
        for each in arguments:
            if getattr(each, "name", None) == SECTION:
                sections.append([])
            else:
                sections[-1].append(each)
        if len(sections[0]) != 1 or getattr(sections[0][0], "type", "") != "string" or len(sections) > 4:
            raise self.error('expected asm("TEXT" : OUTPUTS : INPUTS : CLOBBERS)', node)
        outputs, inputs, clobbers = [*sections[1:], [], [], []][:3]
        places: list[Place] = []
        constraints: list[str] = []
        operands: list[SSAValue] = []
        tied: dict[str, SSAValue] = {}
        for at, each in enumerate(outputs):
            mark, letter, operand = self._operand(each)
            place = self.place(operand)
            places.append(place)
            constraints.append(f"={letter}")
            if mark[:1] == "+":
                tied[str(at)] = self.in_memory(self.read(place))
        for each in inputs:
            _, letter, operand = self._operand(each)
            constraints.append(letter)
            operands.append(self.in_memory(self.value(operand)))
        constraints += [*tied, *(f"~{{{self.string(each)}}}" for each in clobbers)]
        kinds = [memory_type(place.type) for place in places]
        result = kinds[0] if len(kinds) == 1 else LLVMStructType.from_type_list(kinds) if kinds else LLVMVoidType()
        text = self._instructions(sections[0][0], len(outputs) + len(inputs))
        operation = self.add(
            llvm.InlineAsmOp(
                text, ",".join(constraints), [*operands, *tied.values()], [result] if places else [],
                asm_dialect=0, has_side_effects=True,
            )
        )  # fmt: skip
        for at, place in enumerate(places):
            found = operation.results[0]
            found = found if len(places) == 1 else self.extracted(found, at, kinds[at])
            self.write(self.from_memory(found, place.type), place)
        return Value(VOID)

    def _instructions(self, node: Any, operands: int) -> str:
        """Return the text of an `asm` statement for LLVM."""
        text = self.string(node)
        plain = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL).strip()
        depth = list(accumulate((each == "{") - (each == "}") for each in plain))
        if depth and (min(depth) < 0 or depth[-1]):
            raise self.error("expected a closing brace for each opening brace in asm", node)
        if plain and plain[-1] not in ";}:":
            raise self.error("expected ; at the end of the instructions in asm", node)
        if wrong := [number for number in re.findall(r"(?<!%)%(\d+)", text) if int(number) >= operands]:
            raise self.error(f"asm has {operands} operands, and no operand %{wrong[0]}", node)
        return re.sub(r"%(\d+)", r"$\1", text.replace("$", "$$")).replace("%%", "%")

    def _operand(self, node: Any) -> tuple[str, str, Any]:
        """Return the mark, the letter and the expression of an operand such as "=r"(x)."""
        parts = None
        if type(node).__name__ == "FuncCall" and getattr(node.name, "type", "") == "string":
            parts = _CONSTRAINT.fullmatch(self.string(node.name))
        if parts is None or node.args is None or len(node.args.exprs) != 1:
            raise self.error('expected an operand such as "=r"(x), with one of the letters h, r, l, f and d', node)
        return parts[1], parts[2], node.args.exprs[0]
