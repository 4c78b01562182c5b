"""Attributes of functions, parameters and modules as text of LLVM IR, and their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm.dialect.attributes import ConstantRange
from warploom.nvvm.mlir.llvm_values import escaped, items_of, numbers_of, type_text, type_word
from warploom.nvvm.mlir.metadata import Metadata, integer, number_of, parameters_of, words_of

Attributes = Mapping[str, Attribute]
NO_ATTRIBUTES: Attributes = {}
WITHOUT_EFFECT = frozenset((
    "operandSegmentSizes", "case_operand_segments", "sym_visibility", "known_grid_size", "gpu.known_grid_size",
    "gpu.known_block_size", "gpu.known_cluster_size", "targets", "gpu.container_module", "dlti.dl_spec",
    "ptx.version", "ptx.target",
))  # fmt: skip
"""Attributes without an instruction or attribute of LLVM IR.

They structure the MLIR text, state the visibility for MLIR's symbol tables, or repeat a fact about the target.
"""
KERNEL = "nvvm.kernel"
"""Attribute of a function that is a kernel."""
FUNCTION_WORDS = {
    "no_inline": "noinline", "always_inline": "alwaysinline", "inline_hint": "inlinehint", "no_unwind": "nounwind",
    "will_return": "willreturn", "optimize_none": "optnone", "convergent": "convergent",
}  # fmt: skip
"""LLVM attributes without a value, by the property of `llvm.func` that sets them."""
FUNCTION_STRINGS = {
    "frame_pointer": "frame-pointer", "target_cpu": "target-cpu", "tune_cpu": "tune-cpu",
    "target_features": "target-features", "reciprocal_estimates": "reciprocal-estimates",
    "prefer_vector_width": "prefer-vector-width", "no_infs_fp_math": "no-infs-fp-math",
    "no_nans_fp_math": "no-nans-fp-math", "no_signed_zeros_fp_math": "no-signed-zeros-fp-math",
    "denormal_fp_math": "denormal-fp-math", "denormal_fp_math_f32": "denormal-fp-math-f32",
    "fp_contract": "fp-contract", "instrument_function_entry": "instrument-function-entry",
    "instrument_function_exit": "instrument-function-exit",
}  # fmt: skip
"""String attributes of LLVM by property."""
KERNEL_DIMENSIONS = ("nvvm.maxntid", "nvvm.reqntid", "nvvm.cluster_dim")
KERNEL_NUMBERS = {
    "nvvm.cluster_max_blocks": "nvvm.maxclusterrank",
    "nvvm.minctasm": "nvvm.minctasm",
    "nvvm.maxnreg": "nvvm.maxnreg",
}
KERNEL_UNITS = ("nvvm.blocksareclusters",)
FUNCTION_HINTS = ("work_group_size_hint", "reqd_work_group_size")
PARAMETER_WORDS = {
    "llvm.noundef": "noundef", "llvm.noalias": "noalias", "llvm.nocapture": "captures(none)", "llvm.nofree": "nofree",
    "llvm.nonnull": "nonnull", "llvm.readonly": "readonly", "llvm.readnone": "readnone", "llvm.writeonly": "writeonly",
    "llvm.inreg": "inreg", "llvm.signext": "signext", "llvm.zeroext": "zeroext", "llvm.returned": "returned",
    "llvm.nest": "nest", "llvm.allocptr": "allocptr",
    "llvm.allocalign": "allocalign",
    "nvvm.grid_constant": '"nvvm.grid_constant"',
}  # fmt: skip
PARAMETER_TYPES = ("byval", "byref", "sret", "inalloca", "preallocated", "elementtype")
PARAMETER_NUMBERS = ("align", "alignstack", "dereferenceable", "dereferenceable_or_null")
_NVVM = {*KERNEL_DIMENSIONS, *KERNEL_NUMBERS, *KERNEL_UNITS, KERNEL}


class UsedAttributes(dict[str, Attribute]):
    """Attributes and properties of an operation. `unused` has the names that nobody has read."""

    def __init__(self, operation: Operation) -> None:
        super().__init__({**operation.attributes, **operation.properties})
        self.unused = dict.fromkeys(name for name in self if name not in WITHOUT_EFFECT)

    def __getitem__(self, name: str) -> Attribute:
        if name not in self:
            raise VerifyException(f"needs the attribute '{name}'")
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.unused.pop(str(name), None)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default."""
        self.unused.pop(name, None)
        return super().get(name, default)

    def refuse_unused(self) -> None:
        """Raise VerifyException for an attribute that has no effect on LLVM IR."""
        if self.unused:
            raise VerifyException(f"has the attribute '{next(iter(self.unused))}', which cannot be lowered to LLVM")


class Words:
    """Words of the text of an operation. Each method of a subclass returns the word of its name, or ""."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.found = UsedAttributes(operation)

    def __getitem__(self, word: str) -> str:
        return getattr(self, word)()

    def text(self, template: str) -> str:
        """Return a template with the words in braces replaced.

        Errors: VerifyException for an attribute that no word uses
        """
        text = spaced(*(part.format_map(self) for part in template.split()))
        self.found.refuse_unused()
        return text

    def unit(self, name: str, word: str = "") -> str:
        """Return a word if a unit attribute is present."""
        return (word or name) * (name in self.found)

    def string(self, name: str) -> str:
        """Return the value of a required string attribute. Errors: VerifyException."""
        if not isinstance(found := self.found.get(name), StringAttr):
            raise VerifyException(f"expects a string as '{name}'")
        return found.data

    def number(self, name: str, pattern: str) -> str:
        """Return a pattern with the value of an integer attribute if it is present."""
        return pattern.format(number_of(self.found[name])) if name in self.found else ""


def spaced(*words: str) -> str:
    """Return words with a space between them. Empty words are omitted."""
    return " ".join(filter(None, words))


def dictionaries_of(attribute: Attribute | None, count: int) -> list[Attributes]:
    """Return the attributes of each of `count` parameters or results."""
    found: list[Attributes] = [each.data for each in items_of(attribute) if isinstance(each, DictionaryAttr)]
    return found + [NO_ATTRIBUTES] * (count - len(found))


def parameter_text(found: Attributes, owner: str) -> str:
    """Return the attributes of a parameter or result, with a space before each.

    `owner` names the parameter in messages. Errors: VerifyException for an unknown attribute
    """
    words: list[str] = []
    for name, value in found.items():
        short = name.removeprefix("llvm.")
        if name in PARAMETER_WORDS:
            words.append(PARAMETER_WORDS[name])
        elif short in PARAMETER_TYPES:
            words.append(f"{short}({type_text(value)})")
        elif short in PARAMETER_NUMBERS:
            words.append(f"align {number_of(value)}" if short == "align" else f"{short}({number_of(value)})")
        elif short == "range" and isinstance(value, ConstantRange):
            words.append(f"range({value.type} {value.lower.data}, {value.upper.data})")
        else:
            raise VerifyException(f"has an unknown attribute '{name}' of {owner}")
    return "".join(f" {word}" for word in words)


def memory_text(effects: Attribute) -> str:
    """Return the LLVM attribute for memory effects, such as `memory(read)`."""
    words = dict(parameters_of(effects))
    default = words.pop("other", "none")
    names = {"argMem": "argmem", "inaccessibleMem": "inaccessiblemem", "errnoMem": "errnomem",
             "targetMem0": "target_mem0", "targetMem1": "target_mem1"}  # fmt: skip
    spelled = [default] * (default != "none" or all(word == default for word in words.values()))
    spelled += [f"{names[name]}: {word}" for name, word in words.items() if word != default]
    return f"memory({', '.join(spelled)})"


def convention_text(found: Attributes) -> str:
    """Return the calling convention of a function or call, or "" for that of C."""
    word = words_of(found.get("CConv"))
    kept = ("fastcc", "coldcc", "anyregcc", "preserve_mostcc", "preserve_allcc", "swiftcc", "tailcc", "swifttailcc")
    word = "" if word == "ccc" else word.replace("_", " ") if word[:3] == "cc_" else word
    return word if word in kept or word.startswith("cc ") else word.removesuffix("cc")


def function_words(found: Attributes) -> list[str]:
    """Return the LLVM attributes of a function as words, such as `noinline` and `"nvvm.maxnreg"="64"`."""
    words = [word for name, word in FUNCTION_WORDS.items() if name in found]
    if "memory_effects" in found:
        words.append(memory_text(found["memory_effects"]))
    if (scale := found.get("vscale_range")) is not None:
        bounds = [str(integer(bound)) for bound in parameters_of(scale).values()]
        words.append(f"vscale_range({','.join(bounds)})")
    if "uwtable_kind" in found:
        words.append(f"uwtable({words_of(found['uwtable_kind'])})".replace("(async)", ""))
    words += [_string(llvm, _value(found[name])) for name, llvm in FUNCTION_STRINGS.items() if name in found]
    for name in KERNEL_DIMENSIONS:
        if numbers := numbers_of(found.get(name)):
            words.append(_string(name, ",".join(map(str, numbers))))
    words += [_string(llvm, str(number_of(found[name]))) for name, llvm in KERNEL_NUMBERS.items() if name in found]
    words += [f'"{name}"' for name in KERNEL_UNITS if name in found]
    return words + passed_words(found.get("passthrough"))


def passed_words(attributes: Attribute | None) -> list[str]:
    """Return the words of a `passthrough` array: strings, and pairs of a name and a value."""
    words: list[str] = []
    for item in items_of(attributes):
        name, *values = [each.data for each in items_of(item) or [item] if isinstance(each, StringAttr)]
        if values:
            words.append(f"{name}({values[0]})" if name == "alignstack" else _string(name, values[0]))
        else:
            words.append(name if name in _ENUMERATED else f'"{escaped(name)}"')
    return words


_ENUMERATED = frozenset((
    "alwaysinline", "builtin", "cold", "convergent", "disable_sanitizer_instrumentation", "fn_ret_thunk_extern",
    "hot", "hybrid_patchable", "inlinehint", "jumptable", "minsize", "mustprogress", "naked", "nobuiltin",
    "nocallback", "nocf_check", "nodivergencesource", "noduplicate", "nofree", "noimplicitfloat", "noinline",
    "nomerge", "nonlazybind", "noprofile", "norecurse", "noredzone", "noreturn", "nosanitize_bounds",
    "nosanitize_coverage", "nosync", "nounwind", "null_pointer_is_valid", "optdebug", "optforfuzzing", "optnone",
    "optsize", "presplitcoroutine", "returns_twice", "safestack", "sanitize_address", "sanitize_hwaddress",
    "sanitize_memory", "sanitize_thread", "shadowcallstack", "skipprofile", "speculatable",
    "speculative_load_hardening", "ssp", "sspreq", "sspstrong", "strictfp", "willreturn",
))  # fmt: skip
"""Attributes of functions that LLVM prints without quotation marks."""


def _string(name: str, value: str) -> str:
    return f'"{escaped(name)}"="{escaped(value)}"'


def _value(attribute: Attribute) -> str:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            return "true" if number_of(attribute) else "false"
        case UnitAttr():
            return "true"
        case _:
            return words_of(attribute).strip("[]").replace(" ", ",")


def function_metadata(found: Attributes, metadata: Metadata) -> str:
    """Return the metadata of a function, with a space before each kind."""
    nodes: dict[str, str] = {}
    if "function_entry_count" in found:
        count = number_of(found["function_entry_count"])
        nodes["prof"] = metadata.node('!"function_entry_count"', f"i64 {count}")
    for name in FUNCTION_HINTS:
        if numbers := numbers_of(found.get(name)):
            nodes[name] = metadata.node(*(f"i32 {number}" for number in numbers))
    if (hint := found.get("vec_type_hint")) is not None:
        stated = parameters_of(hint)
        shape = re.match(r"vector<(\d+)x(\w+)", stated["hint"])
        kind = f"<{shape[1]} x {type_word(shape[2])}>" if shape else type_word(stated["hint"])
        nodes["vec_type_hint"] = metadata.node(f"{kind} undef", f"i32 {int(stated.get('is_signed') == 'true')}")
    if "intel_reqd_sub_group_size" in found:
        size = number_of(found["intel_reqd_sub_group_size"])
        nodes["intel_reqd_sub_group_size"] = metadata.node(f"i32 {size}")
    return "".join(f" !{kind} {node}" for kind, node in nodes.items())


# Rules --------------------------------------------------------------------------------------------------------


def function_problems(found: Attributes) -> Iterator[str]:
    """Yield a message, without its subject, for each illegal nvvm attribute of a function."""
    for name, value in found.items():
        if not name.startswith("nvvm."):
            continue
        if name not in _NVVM:
            yield f"has no attribute '{name}'; expected one of {', '.join(sorted(_NVVM))}"
        elif name in KERNEL_DIMENSIONS:
            if not 1 <= len(numbers_of(value)) <= 3:
                yield f"expects '{name}' to be an array of one to three integers, such as array<i32: 128, 1, 1>"
        elif name in KERNEL_NUMBERS and not isinstance(value, IntegerAttr):
            yield f"expects '{name}' to be an integer, got {value}"
        elif name in KERNEL_UNITS and not {"nvvm.reqntid", "nvvm.cluster_dim"} <= found.keys():
            yield f"expects 'nvvm.reqntid' and 'nvvm.cluster_dim' beside '{name}'"
    others = sorted(name for name in found if name in _NVVM - {KERNEL})
    if others and KERNEL not in found:
        yield f"expects the attribute '{KERNEL}' beside '{others[0]}'"


def parameter_problems(
    number: int, type: Attribute, found: Mapping[str, Attribute], *, is_kernel: bool
) -> Iterator[str]:
    """Yield a message, without its subject, for each illegal attribute of a parameter."""
    for name in found:
        short = name.removeprefix("llvm.")
        if name.startswith("nvvm.") and name not in PARAMETER_WORDS:
            yield f"has no attribute '{name}' of parameter {number}; expected nvvm.grid_constant"
        elif short in PARAMETER_TYPES and not isinstance(type, LLVMPointerType):
            yield f"expects parameter {number} with '{name}' to be a pointer, got {type}"
    if "nvvm.grid_constant" in found and not (is_kernel and "llvm.byval" in found):
        yield f"expects parameter {number} with 'nvvm.grid_constant' to be a kernel's pointer with 'llvm.byval'"
