"""Operations of the llvm, arith and cf dialects as instructions of LLVM IR.

Each function of `WRITERS` returns the text of one instruction, without the name of its result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Protocol

from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMFunctionType, LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm.mlir.llvm_syntax import (
    ATOMICS,
    BINARY,
    CASTS,
    COMPARISONS,
    DYNAMIC,
    INTEGER_COMPARISONS,
    ORDERINGS,
    WRAPS,
)
from warploom.nvvm.mlir.llvm_values import constant_text, escaped, items_of, numbers_of, symbol_text, type_text

Attributes = Mapping[str, Attribute]
NO_ATTRIBUTES: Attributes = {}


class Names(Protocol):
    """Names of the values and blocks of one function."""

    def value(self, value: SSAValue) -> str:
        """Return a value without its type."""
        ...

    def typed(self, value: SSAValue) -> str:
        """Return a value with its type."""
        ...

    def successor(self, operation: Operation, number: int) -> str:
        """Return the name of the block that is a successor of an operation, such as `%b.1`."""
        ...

    def metadata(self, text: str) -> str:
        """Return the number of a metadata node, such as `!3`."""
        ...

    def attributes(self, attributes: Attributes) -> str:
        """Return attributes of a parameter or result, such as `noundef`, with a space before each."""
        ...


Writer = Callable[[Operation, Attributes, Names], str]


def attributes_of(operation: Operation) -> dict[str, Attribute]:
    """Return the attributes and the properties of an operation."""
    return {**operation.attributes, **operation.properties}


def words_of(attribute: Attribute | None) -> str:
    """Return the words of an attribute such as `#llvm.fastmath<nnan, contract>`, separated by spaces."""
    if attribute is None or isinstance(attribute, IntegerAttr):
        return ""
    if isinstance(attribute, StringAttr):
        text = attribute.data
    else:
        text = str(attribute).partition("<")[2].rpartition(">")[0].replace('"', "")
    return " ".join(word for word in re.split(r"[\s,]+", text) if word and word != "none")


def number_of(attribute: Attribute | None, default: int = 0) -> int:
    """Return the value of an integer attribute."""
    return attribute.value.data if isinstance(attribute, IntegerAttr) else default


def _spaced(*words: str) -> str:
    return " ".join(filter(None, words))


# Arithmetic and casts -----------------------------------------------------------------------------------------


def _flags(found: Attributes) -> str:
    names = {"isExact": "exact", "isDisjoint": "disjoint", "nonNeg": "nneg"}
    units = [word for name, word in names.items() if name in found]
    fast = words_of(found.get("fastmathFlags", found.get("fastmath")))
    bits = number_of(overflow := found.get("overflowFlags"))  # a number in the generic syntax
    return _spaced(words_of(overflow), "nsw" * (bits & 1), "nuw" * (bits >> 1), *units, fast)


def _binary(word: str) -> Writer:
    return lambda op, found, names: _spaced(
        word, _flags(found), f"{names.typed(op.operands[0])}, {names.value(op.operands[1])}"
    )


def _cast(word: str) -> Writer:
    return lambda op, found, names: _spaced(
        word, _flags(found), names.typed(op.operands[0]), "to", type_text(op.results[0].type)
    )


def _arith_cast(wider: str, narrower: str) -> Writer:
    """Return a writer for the casts of `index`, which has 64 bits here."""

    def write(op: Operation, found: Attributes, names: Names) -> str:
        (value,), (result,) = op.operands, op.results
        source, target = type_text(value.type), type_text(result.type)
        if source == target:
            return f"bitcast {names.typed(value)} to {target}"
        word = wider if int(source[1:]) < int(target[1:]) else narrower
        return _cast(word)(op, found, names)

    return write


def _unary(word: str) -> Writer:
    return lambda op, found, names: _spaced(word, _flags(found), names.typed(op.operands[0]))


def _compare(word: str, predicates: Sequence[str]) -> Writer:
    def write(op: Operation, found: Attributes, names: Names) -> str:
        predicate = predicates[number_of(found["predicate"])].lstrip("_")
        fast = words_of(found.get("fastmathFlags", found.get("fastmath")))
        return _spaced(word, fast, predicate, f"{names.typed(op.operands[0])}, {names.value(op.operands[1])}")

    return write


def _select(op: Operation, found: Attributes, names: Names) -> str:
    return _spaced("select", _flags(found), ", ".join(map(names.typed, op.operands)))


def _elements(word: str) -> Writer:
    return lambda op, found, names: f"{word} {', '.join(map(names.typed, op.operands))}"


def _positions(word: str) -> Writer:
    # The operands of `llvm.insertvalue` are the container and the value.
    return lambda op, found, names: (
        f"{word} {', '.join([*map(names.typed, op.operands), *map(str, numbers_of(found['position']))])}"
    )


def _shuffle(op: Operation, found: Attributes, names: Names) -> str:
    mask = numbers_of(found["mask"])
    lanes = ", ".join("i32 poison" if lane == -1 else f"i32 {lane}" for lane in mask)
    return f"shufflevector {', '.join(map(names.typed, op.operands))}, <{len(mask)} x i32> <{lanes}>"


# Memory -------------------------------------------------------------------------------------------------------


def _atomic(found: Attributes, name: str = "ordering") -> str:
    scope = found.get("syncscope")
    ordering = ORDERINGS[number_of(found.get(name))]
    if ordering == "not_atomic":
        return ""
    return _spaced(f'syncscope("{escaped(scope.data)}")' if isinstance(scope, StringAttr) else "", ordering)


def _alignment(found: Attributes) -> str:
    return f", align {number_of(found['alignment'])}" if "alignment" in found else ""


def _access(word: str, operands: str, found: Attributes, names: Names) -> str:
    atomic = _atomic(found)
    text = _spaced(word, "atomic" * bool(atomic), "volatile" * ("volatile_" in found), operands, atomic)
    text += _alignment(found)
    for name, kind, node in (
        ("nontemporal", "nontemporal", "!{i32 1}"),
        ("invariant", "invariant.load", "!{}"),
        ("invariantGroup", "invariant.group", "!{}"),
    ):
        text += f", !{kind} {names.metadata(node)}" if name in found else ""
    if (size := found.get("dereferenceable")) is not None:
        kind = "dereferenceable" + "_or_null" * ("mayBeNull" in found or "mayBeNull = true" in str(size))
        number = number_of(size) or int(re.findall(r"\d+", str(size))[0])
        text += f", !{kind} {names.metadata(f'!{{i64 {number}}}')}"
    return text


def _load(op: Operation, found: Attributes, names: Names) -> str:
    return _access("load", f"{type_text(op.results[0].type)}, {names.typed(op.operands[0])}", found, names)


def _store(op: Operation, found: Attributes, names: Names) -> str:
    return _access("store", ", ".join(map(names.typed, op.operands)), found, names)


def _getelementptr(op: Operation, found: Attributes, names: Names) -> str:
    base, *dynamic = op.operands
    rest = iter(dynamic)
    constants = numbers_of(found["rawConstantIndices"])
    indices = [names.typed(next(rest)) if index == DYNAMIC else f"i32 {index}" for index in constants]
    bits = number_of(found.get("noWrapFlags")) | 3 * ("inbounds" in found)
    flags = [word for word, mask in WRAPS.items() if bits & mask == mask and not (word == "nusw" and bits & 1)]
    return (
        f"{_spaced('getelementptr', *flags)} {', '.join([type_text(found['elem_type']), names.typed(base), *indices])}"
    )


def _alloca(op: Operation, found: Attributes, names: Names) -> str:
    kind = op.results[0].type
    space = type_text(kind).partition(" ")[2] if isinstance(kind, LLVMPointerType) else ""
    text = _spaced("alloca", "inalloca" * ("inalloca" in found), f"{type_text(found['elem_type'])}")
    return f"{text}, {names.typed(op.operands[0])}{_alignment(found)}{space and f', {space}'}"


def _atomicrmw(op: Operation, found: Attributes, names: Names) -> str:
    word = ATOMICS[number_of(found["bin_op"])].removeprefix("_")
    operands = ", ".join(map(names.typed, op.operands))
    volatile = "volatile" * ("volatile_" in found)
    return _spaced("atomicrmw", volatile, word, operands, _atomic(found)) + _alignment(found)


def _cmpxchg(op: Operation, found: Attributes, names: Names) -> str:
    flags = ["weak" * ("weak" in found), "volatile" * ("volatile_" in found)]
    orders = [_atomic(found, "success_ordering"), ORDERINGS[number_of(found["failure_ordering"])]]
    return _spaced("cmpxchg", *flags, ", ".join(map(names.typed, op.operands)), *orders) + _alignment(found)


# Calls --------------------------------------------------------------------------------------------------------


def dictionaries_of(attribute: Attribute | None, count: int) -> list[Attributes]:
    """Return the attributes of each of `count` parameters or results."""
    found: list[Attributes] = [each.data for each in items_of(attribute) if isinstance(each, DictionaryAttr)]
    return found + [NO_ATTRIBUTES] * (count - len(found))


def _arguments(operands: Sequence[SSAValue], found: Attributes, names: Names) -> str:
    return ", ".join(
        f"{type_text(value.type)}{names.attributes(attributes)} {names.value(value)}"
        for value, attributes in zip(operands, dictionaries_of(found.get("arg_attrs"), len(operands)), strict=True)
    )


def _result(op: Operation, found: Attributes, names: Names) -> str:
    (attributes,) = dictionaries_of(found.get("res_attrs"), 1)
    return f"{names.attributes(attributes)} {type_text(op.results[0].type) if op.results else 'void'}".lstrip()


_CALL_ATTRIBUTES = {
    "convergent": "convergent", "no_unwind": "nounwind", "will_return": "willreturn",
    "no_inline": "noinline", "always_inline": "alwaysinline", "inline_hint": "inlinehint",
}  # fmt: skip


def _call(op: Operation, found: Attributes, names: Names) -> str:
    callee = found.get("callee")
    operands, bundles = _bundles(op, found, names)
    target = (
        symbol_text(callee.root_reference.data) if isinstance(callee, SymbolRefAttr) else names.value(operands.pop(0))
    )
    variadic = found.get("var_callee_type")
    result = type_text(variadic) if isinstance(variadic, LLVMFunctionType) else _result(op, found, names)
    kind, fast = words_of(found.get("TailCallKind")), words_of(found.get("fastmathFlags"))
    convention = convention_text(found)
    ends = [word for name, word in _CALL_ATTRIBUTES.items() if name in found]
    if "memory_effects" in found:
        ends.append(memory_text(found["memory_effects"]))
    text = _spaced(kind, "call", fast, convention, result, f"{target}({_arguments(operands, found, names)})")
    return _spaced(text, *ends, bundles)


def _bundles(op: Operation, found: Attributes, names: Names) -> tuple[list[SSAValue], str]:
    """Return the operands of a call without those of its operand bundles, and the bundles as text."""
    sizes = numbers_of(found.get("op_bundle_sizes"))
    operands, items = list(op.operands), list[str]()
    first = len(operands) - sum(sizes)
    operands, rest = operands[:first], iter(operands[first:])
    for size, tag in zip(sizes, items_of(found.get("op_bundle_tags")), strict=True):
        values = ", ".join(names.typed(value) for value in islice(rest, size))
        items.append(f'"{escaped(tag.data)}"({values})' if isinstance(tag, StringAttr) else "")
    return operands, f"[ {', '.join(items)} ]" if items else ""


def convention_text(found: Attributes) -> str:
    """Return the calling convention of a function or call, or "" for that of C."""
    word = words_of(found.get("CConv"))
    kept = ("fastcc", "coldcc", "anyregcc", "preserve_mostcc", "preserve_allcc", "swiftcc", "tailcc", "swifttailcc")
    word = "" if word == "ccc" else word.replace("_", " ") if word[:3] == "cc_" else word
    return word if word in kept or word.startswith("cc ") else word.removesuffix("cc")


def memory_text(effects: Attribute) -> str:
    """Return the attribute `memory` of a function or call."""
    pairs = dict(re.findall(r"(\w+) = (\w+)", str(effects)))
    default = pairs.pop("other", "none")
    names = {"argMem": "argmem", "inaccessibleMem": "inaccessiblemem", "errnoMem": "errnomem",
             "targetMem0": "target_mem0", "targetMem1": "target_mem1"}  # fmt: skip
    spelled = [default] * (default != "none" or all(word == default for word in pairs.values()))
    spelled += [f"{names[name]}: {word}" for name, word in pairs.items() if word != default and name in names]
    return f"memory({', '.join(spelled)})"


def _call_intrinsic(op: Operation, found: Attributes, names: Names) -> str:
    name = found["intrin"]
    assert isinstance(name, StringAttr)
    fast = words_of(found.get("fastmathFlags"))
    operands, bundles = _bundles(op, found, names)
    arguments = _arguments(operands, found, names)
    return _spaced("call", fast, _result(op, found, names), f"{symbol_text(name.data)}({arguments})", bundles)


_IMMEDIATES = (
    "len", "is_int_min_poison", "is_zero_poison", "bit", "rw", "hint", "cache", "pos", "prob", "failureKind",
    "lhs_rows", "lhs_columns", "rhs_columns", "isVolatile", "rows", "columns",
)  # fmt: skip
"""Properties of `llvm.intr.*` that are operands of the intrinsic, in order."""


def _intrinsic(op: Operation, found: Attributes, names: Names) -> str:
    """Write an operation `llvm.intr.*` as a call of `llvm.*`."""
    values = [names.typed(value) for value in op.operands]
    for name in _IMMEDIATES:
        if isinstance(value := found.get(name), IntegerAttr | FloatAttr):
            kind: Attribute = value.type  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            values.append(f"{type_text(kind)} {constant_text(value, kind)}")  # pyright: ignore[reportUnknownArgumentType]
    fast = words_of(found.get("fastmathFlags"))
    name = symbol_text(f"llvm.{op.name.removeprefix('llvm.intr.')}")
    return _spaced("call", fast, _result(op, found, names), f"{name}({', '.join(values)})")


def _inline_asm(op: Operation, found: Attributes, names: Names) -> str:
    text, constraints = found["asm_string"], found["constraints"]
    assert isinstance(text, StringAttr)
    assert isinstance(constraints, StringAttr)
    flags = ["sideeffect" * ("has_side_effects" in found), "alignstack" * ("is_align_stack" in found)]
    flags.append("inteldialect" * (number_of(found.get("asm_dialect")) == 1))
    kind, result = words_of(found.get("tail_call_kind")), _result(op, found, names)
    arguments = ", ".join(map(names.typed, op.operands))
    strings = f'"{escaped(text.data)}", "{escaped(constraints.data)}"({arguments})'
    return _spaced(kind, "call", result, "asm", *flags, strings)


# Control flow -------------------------------------------------------------------------------------------------


def _return(op: Operation, found: Attributes, names: Names) -> str:
    return f"ret {names.typed(op.operands[0])}" if op.operands else "ret void"


def _branch(op: Operation, found: Attributes, names: Names) -> str:
    return f"br label {names.successor(op, 0)}"


def _weights(found: Attributes, names: Names) -> str:
    node = "".join(f", i32 {number}" for number in numbers_of(found.get("branch_weights")))
    return node and f', !prof {names.metadata(f"""!{{!"branch_weights"{node}}}""")}'


JUMP = "ptx"
"""Attribute of `llvm.cond_br` and `llvm.switch`: PTX of the jump.

`$0` stands for the operand, and `${1:l}` for a label.

LLVM itself prints neither negated predicates of jumps, nor the modifier `.uni`, nor short branch tables.
"""


def _cond_br(op: Operation, found: Attributes, names: Names) -> str:
    if isinstance(jump := found.get(JUMP), StringAttr):
        taken = int("!" in jump.data)
        condition, text = names.typed(op.operands[0]), escaped(jump.data)
        other, label = names.successor(op, 1 - taken), names.successor(op, taken)
        return f'callbr void asm sideeffect "{text}", "b,!i"({condition}) to label {other} [label {label}]'
    labels = ", ".join(f"label {names.successor(op, k)}" for k in range(len(op.successors)))
    return f"br {names.typed(op.operands[0])}, {labels}{_weights(found, names)}"


def _switch(op: Operation, found: Attributes, names: Names) -> str:
    if isinstance(jump := found.get(JUMP), StringAttr):
        first = dict(reversed([(block, k) for k, block in enumerate(op.successors) if k]))
        labels = [f"label {names.successor(op, k)}" for k in sorted(first.values())]
        head = f'callbr void asm sideeffect "{escaped(jump.data)}", "r{",!i" * len(labels)}"'
        return f"{head}({names.typed(op.operands[0])}) to label {names.successor(op, 0)} [{', '.join(labels)}]"
    numbers = numbers_of(found.get("case_values"))
    kind = type_text(op.operands[0].type)
    cases = " ".join(f"{kind} {number}, label {names.successor(op, k + 1)}" for k, number in enumerate(numbers))
    head = f"switch {names.typed(op.operands[0])}, label {names.successor(op, 0)}"
    return f"{head} [ {cases} ]{_weights(found, names)}"


def _unreachable(op: Operation, found: Attributes, names: Names) -> str:
    return "unreachable"


def _fence(op: Operation, found: Attributes, names: Names) -> str:
    return f"fence {_atomic(found)}"


_ARITH = {
    "addi": "add", "subi": "sub", "muli": "mul", "divsi": "sdiv", "divui": "udiv", "remsi": "srem", "remui": "urem",
    "andi": "and", "ori": "or", "xori": "xor", "shli": "shl", "shrsi": "ashr", "shrui": "lshr", "addf": "fadd",
    "subf": "fsub", "mulf": "fmul", "divf": "fdiv", "remf": "frem",
}  # fmt: skip
_ARITH_CASTS = {
    "extsi": "sext", "extui": "zext", "trunci": "trunc", "extf": "fpext", "truncf": "fptrunc", "sitofp": "sitofp",
    "uitofp": "uitofp", "fptosi": "fptosi", "fptoui": "fptoui", "bitcast": "bitcast",
}  # fmt: skip
_ARITH_CALLS = {
    "maximumf": "maximum", "minimumf": "minimum", "maxnumf": "maxnum", "minnumf": "minnum", "maxsi": "smax",
    "minsi": "smin", "maxui": "umax", "minui": "umin",
}  # fmt: skip


def _arith_call(word: str) -> Writer:
    return lambda op, found, names: _spaced(
        "call",
        _flags(found),
        type_text(op.results[0].type),
        f"@llvm.{word}({', '.join(map(names.typed, op.operands))})",
    )


WRITERS: dict[str, Writer] = {
    **{f"llvm.{name}": _binary(name) for name in BINARY},
    **{f"arith.{name}": _binary(word) for name, word in _ARITH.items()},
    **{f"llvm.{name}": _cast(name) for name in CASTS},
    **{f"arith.{name}": _cast(word) for name, word in _ARITH_CASTS.items()},
    **{f"arith.{name}": _arith_call(word) for name, word in _ARITH_CALLS.items()},
    "arith.index_cast": _arith_cast("sext", "trunc"),
    "arith.index_castui": _arith_cast("zext", "trunc"),
    "arith.negf": _unary("fneg"),
    "arith.cmpi": _compare("icmp", INTEGER_COMPARISONS),
    "arith.cmpf": _compare("fcmp", COMPARISONS),
    "arith.select": _select,
    "llvm.icmp": _compare("icmp", INTEGER_COMPARISONS),
    "llvm.fcmp": _compare("fcmp", COMPARISONS),
    "llvm.fneg": _unary("fneg"),
    "llvm.freeze": _unary("freeze"),
    "llvm.select": _select,
    "llvm.extractelement": _elements("extractelement"),
    "llvm.insertelement": _elements("insertelement"),
    "llvm.shufflevector": _shuffle,
    "llvm.extractvalue": _positions("extractvalue"),
    "llvm.insertvalue": _positions("insertvalue"),
    "llvm.load": _load,
    "llvm.store": _store,
    "llvm.getelementptr": _getelementptr,
    "llvm.alloca": _alloca,
    "llvm.atomicrmw": _atomicrmw,
    "llvm.cmpxchg": _cmpxchg,
    "llvm.fence": _fence,
    "llvm.call": _call,
    "func.call": _call,
    "llvm.call_intrinsic": _call_intrinsic,
    "llvm.inline_asm": _inline_asm,
    "llvm.return": _return,
    "func.return": _return,
    "gpu.return": _return,
    "llvm.br": _branch,
    "cf.br": _branch,
    "llvm.cond_br": _cond_br,
    "cf.cond_br": _cond_br,
    "llvm.switch": _switch,
    "llvm.unreachable": _unreachable,
}
"""Writers by the name of the operation."""


def writer_of(operation: Operation) -> Writer | None:
    """Return the writer of an operation, or None if LLVM IR has no such instruction."""
    if operation.name.startswith("llvm.intr."):
        return _intrinsic
    return WRITERS.get(operation.name)


def unsupported(operation: Operation) -> VerifyException:
    """Return the error for an operation that has no translation."""
    return VerifyException(f"cannot lower '{operation.name}' to LLVM")
