"""Operations of the llvm, arith and cf dialects as instructions of LLVM IR."""

from __future__ import annotations

from itertools import islice
from typing import Protocol

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMFunctionType, LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm.mlir.attributes import Words, convention_text, dictionaries_of, memory_text, parameter_text, spaced
from warploom.nvvm.mlir.llvm_formats import (
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
from warploom.nvvm.mlir.metadata import Metadata, number_of, parameters_of, words_of

_ARITH = {
    "addi": "add", "subi": "sub", "muli": "mul", "divsi": "sdiv", "divui": "udiv", "remsi": "srem", "remui": "urem",
    "andi": "and", "ori": "or", "xori": "xor", "shli": "shl", "shrsi": "ashr", "shrui": "lshr", "addf": "fadd",
    "subf": "fsub", "mulf": "fmul", "divf": "fdiv", "remf": "frem", "extsi": "sext", "extui": "zext",
    "trunci": "trunc", "extf": "fpext", "truncf": "fptrunc", "negf": "fneg", "cmpi": "icmp", "cmpf": "fcmp",
}  # fmt: skip
"""Operations of the llvm dialect by those of the arith dialect with other names."""
_ARITH_CALLS = {
    "maximumf": "maximum", "minimumf": "minimum", "maxnumf": "maxnum", "minnumf": "minnum", "maxsi": "smax",
    "minsi": "smin", "maxui": "umax", "minui": "umin",
}  # fmt: skip
"""Intrinsics by operation of the arith dialect."""

_CALL = "{tail} call {fast} {convention} {called} {callee}({arguments}) {effects} {bundles}{access}"
INSTRUCTIONS: dict[str, str] = {
    **dict.fromkeys(BINARY, "{word} {flags} {first}, {second}"),
    **dict.fromkeys(CASTS, "{word} {flags} {operands} to {result}{hints}"),
    **dict.fromkeys(("icmp", "fcmp"), "{word} {fast} {predicate} {first}, {second}"),
    **dict.fromkeys(("fneg", "freeze", "select", "extractelement", "insertelement"), "{word} {fast} {operands}"),
    **{name: f"call {{flags}} {{result}} @llvm.{word}({{operands}})" for name, word in _ARITH_CALLS.items()},
    "index_cast": "{resize} {operands} to {result}",
    "index_castui": "{resize} {operands} to {result}",
    "shufflevector": "shufflevector {operands}, {mask}",
    "extractvalue": "extractvalue {operands}{positions}",
    "insertvalue": "insertvalue {operands}{positions}",
    "load": "load {atomic} {volatile} {result}, {operands}{ordering}{align}{hints}{access}",
    "store": "store {atomic} {volatile} {operands}{ordering}{align}{hints}{access}",
    "atomicrmw": "atomicrmw {volatile} {arithmetic} {operands}{ordering}{align}{access}",
    "cmpxchg": "cmpxchg {weak} {volatile} {operands}{orderings}{align}{access}",
    "fence": "fence{ordering}",
    "getelementptr": "getelementptr {wraps} {element}, {indices}",
    "alloca": "alloca {inalloca} {element}, {operands}{align}{space}",
    "call": _CALL,
    "call_intrinsic": "call {fast} {called} {intrinsic}({arguments}) {bundles}",
    "intr": "call {fast} {called} {own_intrinsic}({arguments}) {bundles}{hints}{access}",
    "inline_asm": "{tail} call {called} asm {assembly}({arguments})",
    "return": "ret {returned}",
    "unreachable": "unreachable",
    "br": "br {labels}{branch}",
    "cond_br": "{jump}",
    "switch": "{jump}",
}
"""Template of an instruction by operation without dialect.

Words in braces are methods of `_Instruction`. An attribute that no word of the template uses is an error.
"""
JUMP = "ptx"
"""Warploom's attribute of `llvm.cond_br` and `llvm.switch` with the PTX of the jump.

`$0` stands for the condition or index, and `${1:l}` for the first label. Lifting uses the attribute for jumps that LLVM
does not print: those with a negated predicate, `.uni`, or a branch table of fewer than 4 labels.
"""
_IMMEDIATES = (
    "len", "is_int_min_poison", "is_zero_poison", "bit", "rw", "hint", "cache", "pos", "prob", "failureKind",
    "lhs_rows", "lhs_columns", "rhs_columns", "isVolatile", "rows", "columns",
)  # fmt: skip
"""Properties of `llvm.intr.*` that become constant arguments after the operands, in this order."""
_MASKED = {"masked.load": 0, "masked.store": 1, "masked.gather": 0, "masked.scatter": 1}
"""Position of the pointer with the alignment by intrinsic."""
_CALL_WORDS = {
    "convergent": "convergent", "no_unwind": "nounwind", "will_return": "willreturn",
    "no_inline": "noinline", "always_inline": "alwaysinline", "inline_hint": "inlinehint",
}  # fmt: skip


class Names(Protocol):
    """Names of the values and blocks of one function."""

    metadata: Metadata

    def value(self, value: SSAValue) -> str:
        """Return a value without its type."""
        ...

    def successor(self, operation: Operation, number: int) -> str:
        """Return the name of the block that is the successor with an index, such as `%b.1`."""
        ...


def typed(value: SSAValue, names: Names) -> str:
    """Return a value with its type."""
    return f"{type_text(value.type)} {names.value(value)}"


def has_instruction(operation: Operation) -> bool:
    """Return whether an operation is an instruction of LLVM IR."""
    return _name_of(operation) in INSTRUCTIONS


def instruction_text(operation: Operation, names: Names) -> str:
    """Return an instruction without the name of its result. Errors: VerifyException."""
    return _Instruction(operation, names).text(INSTRUCTIONS[_name_of(operation)])


def _name_of(operation: Operation) -> str:
    """Return the operation of `INSTRUCTIONS`, or "" for one of another dialect."""
    dialect, _, name = operation.name.partition(".")
    if name.startswith("intr."):
        return "intr"
    return _ARITH.get(name, name) if dialect in _DIALECTS or operation.name == "gpu.return" else ""


_DIALECTS = ("llvm", "arith", "cf", "func")


class _Instruction(Words):
    """Words of one instruction."""

    def __init__(self, operation: Operation, names: Names) -> None:
        super().__init__(operation)
        self.names = names
        self.values = list(operation.operands)

    def word(self) -> str:
        return _name_of(self.operation)

    def first(self) -> str:
        return typed(self.values[0], self.names)

    def second(self) -> str:
        return self.names.value(self.values[1])

    def operands(self) -> str:
        return ", ".join(typed(value, self.names) for value in self.values)

    def result(self) -> str:
        return type_text(self.operation.results[0].type) if self.operation.results else "void"

    # Arithmetic and casts -------------------------------------------------------------------------------------

    def flags(self) -> str:
        names = {"isExact": "exact", "isDisjoint": "disjoint", "nonNeg": "nneg"}
        units = [word for name, word in names.items() if name in self.found]
        bits = number_of(overflow := self.found.get("overflowFlags"))  # a number in the generic syntax
        return spaced(words_of(overflow), "nsw" * (bits & 1), "nuw" * (bits >> 1), *units, self.fast())

    def fast(self) -> str:
        return words_of(self.found.get("fastmathFlags")) or words_of(self.found.get("fastmath"))

    def predicate(self) -> str:
        words = INTEGER_COMPARISONS if self.word() == "icmp" else COMPARISONS
        return words[number_of(self.found["predicate"])].lstrip("_")

    def resize(self) -> str:
        """Return the cast of an `index`, which has 64 bits here."""
        source, target = type_text(self.values[0].type), self.result()
        wider = "zext" if self.operation.name == "arith.index_castui" else "sext"
        return "bitcast" if source == target else wider if int(source[1:]) < int(target[1:]) else "trunc"

    def mask(self) -> str:
        mask = numbers_of(self.found["mask"])
        lanes = ", ".join("i32 poison" if lane == -1 else f"i32 {lane}" for lane in mask)
        return f"<{len(mask)} x i32> <{lanes}>"

    def positions(self) -> str:
        return "".join(f", {number}" for number in numbers_of(self.found["position"]))

    # Memory ---------------------------------------------------------------------------------------------------

    def volatile(self) -> str:
        return self.unit("volatile_", "volatile")

    def weak(self) -> str:
        return self.unit("weak")

    def inalloca(self) -> str:
        return self.unit("inalloca")

    def atomic(self) -> str:
        return "atomic" * bool(self.ordering())

    def ordering(self, name: str = "ordering") -> str:
        scope = self.found.get("syncscope")
        ordering = ORDERINGS[number_of(self.found.get(name))]
        if ordering == "not_atomic":
            return ""
        return (f' syncscope("{escaped(scope.data)}")' if isinstance(scope, StringAttr) else "") + f" {ordering}"

    def orderings(self) -> str:
        return f"{self.ordering('success_ordering')} {ORDERINGS[number_of(self.found['failure_ordering'])]}"

    def arithmetic(self) -> str:
        return ATOMICS[number_of(self.found["bin_op"])].removeprefix("_")

    def align(self) -> str:
        return self.number("alignment", ", align {}")

    def hints(self) -> str:
        text = ""
        for name, kind, operand in (
            ("nontemporal", "nontemporal", ("i32 1",)),
            ("invariant", "invariant.load", ()),
            ("invariantGroup", "invariant.group", ()),
        ):
            text += f", !{kind} {self.names.metadata.node(*operand)}" if name in self.found else ""
        if (size := self.found.get("dereferenceable")) is not None:
            stated = parameters_of(size)
            node = self.names.metadata.node(f"i64 {stated['bytes'].partition(' ')[0]}")
            text += f", !dereferenceable{'_or_null' * (stated.get('mayBeNull') == 'true')} {node}"
        return text

    def access(self) -> str:
        return self.names.metadata.access(self.found)

    def wraps(self) -> str:
        bits = number_of(self.found.get("noWrapFlags")) | 3 * ("inbounds" in self.found)
        return spaced(*(w for w, mask in WRAPS.items() if bits & mask == mask and not (w == "nusw" and bits & 1)))

    def element(self) -> str:
        return type_text(self.found["elem_type"])

    def indices(self) -> str:
        base, *dynamic = [typed(value, self.names) for value in self.values]
        rest = iter(dynamic)
        constants = numbers_of(self.found["rawConstantIndices"])
        return ", ".join([base, *(next(rest) if each == DYNAMIC else f"i32 {each}" for each in constants)])

    def space(self) -> str:
        kind = self.operation.results[0].type
        space = type_text(kind).partition(" ")[2] if isinstance(kind, LLVMPointerType) else ""
        return space and f", {space}"

    # Calls ----------------------------------------------------------------------------------------------------

    def tail(self) -> str:
        return words_of(self.found.get("TailCallKind")) or words_of(self.found.get("tail_call_kind"))

    def called(self) -> str:
        """Return the type of the result with its attributes, or that of a variadic function."""
        variadic = self.found.get("var_callee_type")
        (attributes,) = dictionaries_of(self.found.get("res_attrs"), 1)
        kind = type_text(variadic) if isinstance(variadic, LLVMFunctionType) else self.result()
        return f"{parameter_text(attributes, 'the result')} {kind}".lstrip()

    def convention(self) -> str:
        return convention_text(self.found)

    def callee(self) -> str:
        callee = self.found.get("callee")
        if isinstance(callee, SymbolRefAttr):
            return symbol_text(callee.root_reference.data)
        return self.names.value(self.values.pop(0))

    def intrinsic(self) -> str:
        return symbol_text(self.string("intrin"))

    def own_intrinsic(self) -> str:
        """Return the name of the intrinsic of an operation `llvm.intr.*`."""
        name = self.operation.name.removeprefix("llvm.intr.")
        if name in _MASKED:
            self.aligned = _MASKED[name]
        return f"@llvm.{name}"

    aligned: int | None = None

    def arguments(self) -> str:
        """Return the arguments without those of the bundles."""
        count = len(self.values) - sum(numbers_of(self.found.get("op_bundle_sizes")))
        attributes = dictionaries_of(self.found.get("arg_attrs", self.found.get("operand_attrs")), count)
        words = [parameter_text(each, f"argument {k}") for k, each in enumerate(attributes)]
        if self.aligned is not None:
            words[self.aligned] += self.number("alignment", " align {}")
        values = self.values[:count]
        texts = [f"{type_text(v.type)}{w} {self.names.value(v)}" for v, w in zip(values, words, strict=True)]
        if self.word() == "intr":
            self._add_immediates(texts)
        return ", ".join(texts)

    def _add_immediates(self, texts: list[str]) -> None:
        for name in ("size", *_IMMEDIATES):
            if isinstance(value := self.found.get(name), IntegerAttr | FloatAttr):
                kind: Attribute = value.type  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                text = f"{type_text(kind)} {constant_text(value, kind)}"  # pyright: ignore[reportUnknownArgumentType]
                texts.insert(len(texts) - (name == "size"), text)
        if (scope := self.found.get("scope")) is not None:
            texts.append(f"metadata {self.names.metadata.scopes(scope)}")

    def bundles(self) -> str:
        sizes = numbers_of(self.found.get("op_bundle_sizes"))
        rest = iter(self.values[len(self.values) - sum(sizes) :])
        items = [
            f'"{escaped(tag.data)}"({", ".join(typed(value, self.names) for value in islice(rest, size))})'
            for size, tag in zip(sizes, items_of(self.found.get("op_bundle_tags")), strict=True)
            if isinstance(tag, StringAttr)
        ]
        return f"[ {', '.join(items)} ]" if items else ""

    def effects(self) -> str:
        words = [word for name, word in _CALL_WORDS.items() if name in self.found]
        effects = self.found.get("memory_effects")
        return spaced(*words, "" if effects is None else memory_text(effects))

    def assembly(self) -> str:
        flags = [self.unit("has_side_effects", "sideeffect"), self.unit("is_align_stack", "alignstack")]
        flags.append("inteldialect" * (number_of(self.found.get("asm_dialect")) == 1))
        text, constraints = (escaped(self.string(name)) for name in ("asm_string", "constraints"))
        if not self.operation.results and constraints.startswith("="):
            raise VerifyException("has an output constraint; expected a result")
        return spaced(*flags, f'"{text}", "{constraints}"')

    # Control flow ---------------------------------------------------------------------------------------------

    def returned(self) -> str:
        return self.operands() or "void"

    def branch(self) -> str:
        weights = [f"i32 {number}" for number in numbers_of(self.found.get("branch_weights"))]
        metadata = self.names.metadata
        profile = ", !prof " + metadata.node('!"branch_weights"', *weights) if weights else ""
        return profile + metadata.branch(self.found)

    def labels(self) -> str:
        return ", ".join(f"label {self.label(k)}" for k in range(len(self.operation.successors)))

    def label(self, number: int) -> str:
        return self.names.successor(self.operation, number)

    def jump(self) -> str:
        is_switch = self.word() == "switch"
        numbers = numbers_of(self.found.get("case_values"))  # a branch table of PTX has the cases from 0 on
        if isinstance(jump := self.found.get(JUMP), StringAttr):
            return self._assembly_switch(jump) if is_switch else self._assembly_jump(jump)
        if not is_switch:
            return f"br {self.first()}, {self.labels()}{self.branch()}"
        kind = type_text(self.values[0].type)
        cases = " ".join(f"{kind} {number}, label {self.label(k)}" for k, number in enumerate(numbers, 1))
        return f"switch {self.first()}, label {self.label(0)} [ {cases} ]{self.branch()}"

    def _assembly_jump(self, jump: StringAttr) -> str:
        taken = int("!" in jump.data)
        text, label = escaped(jump.data), self.label(taken)
        head = f'callbr void asm sideeffect "{text}", "b,!i"({self.first()})'
        return f"{head} to label {self.label(1 - taken)} [label {label}]"

    def _assembly_switch(self, jump: StringAttr) -> str:
        first = dict(reversed([(block, k) for k, block in enumerate(self.operation.successors) if k]))
        labels = [f"label {self.label(k)}" for k in sorted(first.values())]
        head = f'callbr void asm sideeffect "{escaped(jump.data)}", "r{",!i" * len(labels)}"'
        return f"{head}({self.first()}) to label {self.label(0)} [{', '.join(labels)}]"
