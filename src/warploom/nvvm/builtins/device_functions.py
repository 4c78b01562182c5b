"""Functions that CUDA declares for device code, and inline assembly."""

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.llvm import LLVMStructType, LLVMVoidType
from xdsl.ir import SSAValue

from warploom.nvvm.builtins.c_types import BOOL, DOUBLE, INT, CType, Value, common
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.expressions import UNSIGNED, VOID, Expressions, Place
from warploom.nvvm.builtins.source import SECTION

_FLOAT = CType("float")
_ADDRESS = "__cvta_generic_to_shared"
_ALL = Value(UNSIGNED, 0xFFFFFFFF)
_EVERY_LANE = Value(UNSIGNED, 31)
_NOTHING = Value(UNSIGNED, 0)
_REAL = {
    name + suffix: (f"llvm.{word}.{kind}", ctype, (ctype,) * count)
    for name, word, count in (("fma", "fma", 3), ("fmin", "minnum", 2), ("fmax", "maxnum", 2), ("fabs", "fabs", 1),
                              ("sqrt", "sqrt", 1), ("floor", "floor", 1), ("ceil", "ceil", 1))
    for suffix, kind, ctype in (("f", "f32", _FLOAT), ("", "f64", DOUBLE))
}  # fmt: skip
_SHUFFLES = {
    f"__shfl{name}_sync": (f"llvm.nvvm.shfl.sync.{word}.i32", INT, (UNSIGNED, INT, UNSIGNED, last))
    for name, word, last in (("", "idx", _EVERY_LANE), ("_up", "up", _NOTHING), ("_down", "down", _EVERY_LANE),
                             ("_xor", "bfly", _EVERY_LANE))
}  # fmt: skip
DEVICE_FUNCTIONS: dict[str, tuple[str, CType, tuple[CType | Value, ...]]] = {
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
    _ADDRESS: ("", CType("unsigned long"), (CType("void", 1, const=True),)),
    "min": ("", INT, (INT, INT)),
    "max": ("", INT, (INT, INT)),
    **_REAL,
    **_SHUFFLES,
}
"""Intrinsic of LLVM, type of the result, and types of the parameters.

A value in place of a type is a further argument of the intrinsic.
"""
_CONSTRAINT = re.compile(r"(=|\+|=&|\+&|)([hrlfd])")


class DeviceFunctions(Expressions):
    """Walk over expressions with calls of CUDA's functions and with inline assembly."""

    def device_function(self, name: str, node: Any, arguments: Sequence[Any]) -> Value | None:
        """Return the result of a call, or None for an unknown function."""
        if name == "__asm__":
            return self._asm(node, arguments)
        if name not in DEVICE_FUNCTIONS:
            return None
        intrinsic, result, params = DEVICE_FUNCTIONS[name]
        types = [each for each in params if isinstance(each, CType)]
        optional = name == "__syncwarp"
        if len(arguments) != len(types) and not (optional and len(arguments) == 1):
            raise self.error(f"expected {len(types)} arguments of '{name}', got {len(arguments)}", node)
        values = [self.value(each, ctype) for each, ctype in zip(arguments, [*types, UNSIGNED], strict=False)]
        if name in ("min", "max"):
            return self._extremum(name, node, values)
        if name in _SHUFFLES and values[1].type == _FLOAT:
            intrinsic, result, types[1] = intrinsic.replace("i32", "f32"), _FLOAT, _FLOAT
        if name in _SHUFFLES and values[1].type == UNSIGNED:
            result = UNSIGNED
        converted = [
            self.implicit(value, ctype, at)
            for value, ctype, at in zip(values, [*types, UNSIGNED], arguments, strict=False)
        ]
        if name == _ADDRESS:
            pointer = self.in_space(converted[0], "shared")
            return Value(result, None, self.result(llvm.PtrToIntOp(pointer, i64)))
        extra = [each for each in params if isinstance(each, Value)][len(arguments) - len(types) :]
        return self.intrinsic(intrinsic, [self.ssa(each) for each in (*converted, *extra)], result)

    def _extremum(self, name: str, node: Any, values: Sequence[Value]) -> Value:
        if any(not each.type.is_integer for each in values):
            raise self.error(f"expected integers in {name}; use f{name}f for floating-point values", node)
        ctype = common(values[0].type, values[1].type)
        word = f"llvm.{'u' if ctype.base.startswith('unsigned') else 's'}{name}.i{8 * ctype.size}"
        return self.intrinsic(word, [self.ssa(self.convert(each, ctype)) for each in values], ctype)

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
        tied: list[tuple[str, SSAValue]] = []
        for at, each in enumerate(outputs):
            mark, letter, operand = self._operand(each)
            place = self.place(operand)
            places.append(place)
            constraints.append(f"={letter}")
            if mark[:1] == "+":
                tied.append((str(at), self.in_memory(self.read(place))))
        for each in inputs:
            _, letter, operand = self._operand(each)
            constraints.append(letter)
            operands.append(self.in_memory(self.value(operand)))
        constraints += [number for number, _ in tied]
        constraints += [f"~{{{self._text(each)}}}" for each in clobbers]
        kinds = [memory_type(place.type) for place in places]
        result = kinds[0] if len(kinds) == 1 else LLVMStructType.from_type_list(kinds) if kinds else LLVMVoidType()
        text = re.sub(r"%(\d+)", r"$\1", self._text(sections[0][0]).replace("$", "$$")).replace("%%", "%")
        operation = self.add(
            llvm.InlineAsmOp(
                text, ",".join(constraints), [*operands, *(value for _, value in tied)],
                [result] if places else [], asm_dialect=0, has_side_effects=True,
            )
        )  # fmt: skip
        for at, place in enumerate(places):
            found = operation.results[0]
            if len(places) > 1:
                found = self.result(llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [at]), found, kinds[at]))
            self.write(self.from_memory(found, place.type), place)
        return Value(VOID)

    def _text(self, node: Any) -> str:
        if getattr(node, "type", "") != "string":
            raise self.error("expected a string", node)
        return node.value[1:-1].encode().decode("unicode_escape")

    def _operand(self, node: Any) -> tuple[str, str, Any]:
        """Return the mark, the letter and the expression of an operand such as "=r"(x)."""
        parts = None
        if type(node).__name__ == "FuncCall" and getattr(node.name, "type", "") == "string":
            parts = _CONSTRAINT.fullmatch(self._text(node.name))
        if parts is None or node.args is None or len(node.args.exprs) != 1:
            raise self.error('expected an operand such as "=r"(x), with one of the letters h, r, l, f and d', node)
        return parts[1], parts[2], node.args.exprs[0]
