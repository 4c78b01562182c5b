"""Operands for which ptxas deviates from the manual.

Source: answers of ptxas 12.9 to 13.5 for each Form, operand and target
"""

from collections.abc import Callable, Collection, Mapping

from warploom.check.ptxas import forms, memory_forms
from warploom.check.ptxas import fragment_registers as registers
from warploom.check.ptxas.fragment_registers import FragmentRule
from warploom.isa.instructions import (
    atomic,
    barrier,
    bits,
    bulk,
    convert,
    floating,
    integer,
    logic,
    matrix,
    mbarrier,
    memory,
    mma,
    move,
    multimem,
    sparse,
    stack,
    tcgen05,
    tcgen05_mma,
    tensor,
    tensormap,
    video,
    warp,
    wgmma,
    wmma,
)  # fmt: skip
from warploom.isa.model.form import Form, forms_of
from warploom.isa.model.form import forms as all_forms
from warploom.isa.model.operands import Slots
from warploom.isa.model.types import TYPES

FUNCTION = frozenset({"function"})
"""Extension: the address of a function is legal as a value."""
PACKED = frozenset({"packed"})
"""Extension: a register of `f16x2` is legal as a predicate."""
PREDICATE = frozenset({"predicate"})
"""Extension: a predicate is legal as a 32-bit register."""
VECTORS = frozenset({"vectors"})
"""Extension: a vector of any length is legal as a register."""
Extensions = Collection[str] | Callable[[Slots, int], Collection[str]]

_EXTENSIONS: dict[tuple[Form, str], Extensions] = {}
_FRAGMENTS: dict[tuple[Form, str], FragmentRule] = {}
_REGISTERS_ONLY: set[tuple[Form, str]] = set()

Operands = Mapping[Form, str]
"""Names of some operands of each Form, separated by spaces."""


def extensions_of(form: Form, operand: str, slots: Slots, target: int) -> Collection[str]:
    """Return the names of the syntax beyond the manual that ptxas accepts for an operand.

    `slots` has the modifiers of the opcode, and `target` is a number such as 90.
    """
    found = _EXTENSIONS.get((form, operand), ())
    return found(slots, target) if callable(found) else found


def fragment_rule(form: Form, operand: str) -> FragmentRule | None:
    """Return the rule for the items of a fragment, or None if the operand is no fragment."""
    return _FRAGMENTS.get((form, operand))


def takes_registers_only(form: Form, operand: str) -> bool:
    """Return True if ptxas refuses sinks, predicates and addresses of variables for an operand."""
    return (form, operand) in _REGISTERS_ONLY


def _extend(extensions: Extensions, operands: Operands) -> None:
    for form, names in operands.items():
        _EXTENSIONS.update(dict.fromkeys(((form, name) for name in names.split()), extensions))


def _hold_fragments(rule: Callable[[str], FragmentRule], operands: Operands) -> None:
    for form, names in operands.items():
        _FRAGMENTS.update({(form, name): rule(name) for name in names.split()})


def _if(words: frozenset[str], condition: Callable[[Slots, int], bool]) -> Extensions:
    return lambda slots, target: words if condition(slots, target) else ()


def _is_routine(slots: Slots) -> bool:
    """Return True if ptxas implements a division or root as a routine."""
    return slots["rnd"] != "rn" and (slots.get("op") is None or slots["type"] == "f64")


# Extensions -----------------------------------------------------------------------------------------------

_ARITHMETIC = ("approximate", "bits", "compare", "floating", "half", "integer", "logic")
_PLAIN_SOURCES = {
    bits.SHIFT: "b",
    bits.FUNNEL: "c",
    bits.BFE: "b c",
    bits.BFI: "c d",
    bits.SZEXT: "b",
    bits.BMSK: "a b",
    integer.DP4A: "c",
    integer.DP2A: "c",
}
"""Sources of arithmetic without extensions: shift amounts, bit fields, and addends of dot products."""


def _arithmetic_sources(form: Form) -> str:
    plain = _PLAIN_SOURCES.get(form, "").split()
    sources = (name for name, spec in form.operands.items() if (spec.kind, spec.access) == ("register", "read"))
    return " ".join(name for name in sources if name not in plain)


_LOADS = (memory.LD, memory.LD_ORDERED, memory.LD_VOLATILE, memory.LD_MMIO, memory.LD_NC, memory.LDU)
_STORES = (memory.ST, memory.ST_ORDERED, memory.ST_VOLATILE, memory.ST_MMIO, memory.ST_ASYNC)
_ASYNC_STORES = (
    memory_forms.ASYNC_STORE, memory_forms.ASYNC_STORE_ONE, memory_forms.ASYNC_STORE_ALONE,
    memory_forms.ASYNC_STORE_GLOBAL, memory_forms.ASYNC_RED, memory_forms.ATOM_THIRD,
)  # fmt: skip
_ADDRESS_MAPS = (
    memory.MAPA, memory.GETCTARANK, memory_forms.MAPA_SIGNED, memory_forms.GETCTARANK_SIGNED,
)  # fmt: skip
_TENSOR_LOADS = (tensor.LOAD, tensor.GATHER, tensor.LOAD_IM2COL)
_TENSOR_STORES = (
    tensor.STORE, tensor.REDUCE, tensor.SCATTER, tensor.STORE_IM2COL, tensor.REDUCE_IM2COL, forms.ROW_SCATTER,
)  # fmt: skip
_TENSOR_PREFETCHES = (tensor.PREFETCH, tensor.PREFETCH_ROWS, tensor.PREFETCH_IM2COL)

_COUNTED_ARRIVALS = (
    mbarrier.ARRIVE_COUNT, mbarrier.ARRIVE_REMOTE, mbarrier.ARRIVE_NO_COMPLETE, mbarrier.ARRIVE_NO_COMPLETE_DISCARD,
)  # fmt: skip

_extend(FUNCTION | PACKED, {form: _arithmetic_sources(form) for form in all_forms() if form.family in _ARITHMETIC})
_extend(
    FUNCTION | PACKED,
    {
        atomic.ATOM: "b",
        atomic.CAS: "b c",
        atomic.RED: "b",
        atomic.RED_ASYNC: "b",
        convert.HALVES: "b",
        convert.HALVES_STOCHASTIC: "b",
        convert.TF32: "a",
        convert.NARROW: "a b",
        convert.FIXED: "a b",
        convert.FIXED_HALVES: "a",
        convert.PACK: "a b",
        convert.PACK_ONTO: "a b c",
        memory.CVTA_TO: "a",
        move.MOV_PREDICATE: "a",
        stack.ALLOCA: "size",
        forms.CARRY_ADD: "a b",
        forms.CARRY_MAD: "a b c",
        forms.WITHOUT_PROPERTY: "a",
        forms.WITHOUT_PAIR: "a b",
        forms.ROW_FMA: "a b c",
        forms.WITH_FLUSH: "a",
    },
)
_extend(
    FUNCTION,
    {
        **dict.fromkeys((*_STORES, *_ASYNC_STORES, multimem.ST, multimem.ST_FLOAT, multimem.RED), "b"),
        **dict.fromkeys((move.MOV, move.UNPACK1, move.UNPACK2, move.UNPACK4, *_ADDRESS_MAPS), "a"),
        **dict.fromkeys((tensormap.REPLACE_RANK, tensormap.REPLACE_ENTRY, forms.ROW_FIFTH_STRIDE), "new_val"),
        **{form: "response" for form in forms_of("clusterlaunchcontrol") if "response" in form.operands},
        **dict.fromkeys((video.ARITHMETIC, video.SET, video.SET_MERGED), "a b"),
        **dict.fromkeys((video.ARITHMETIC_MERGED, video.MAD, video.MAD_NEGATED), "a b c"),
        warp.REDUX_FLOAT: "a",
    },
)
_extend(PACKED, {barrier.BARRIER_RED: "d", logic.BITWISE: "d", logic.NOT: "d", move.MOV_PREDICATE: "d"})
_extend(
    PREDICATE,
    {
        **dict.fromkeys((matrix.LDMATRIX, matrix.LDMATRIX_WIDENED, *forms.MANY_LOADED, *forms.MANY_WIDENED), "r"),
        **dict.fromkeys((wgmma.INTEGER_REGISTERS, wgmma.BIT_REGISTERS, wgmma.SPARSE_INTEGER_REGISTERS), "a"),
        **dict.fromkeys((forms.KIND_DENSE, forms.FOUR_BITS, forms.KIND_SPARSE), "a b c d"),
        matrix.MOVMATRIX: "d a",
    },
)
_extend(
    VECTORS | PREDICATE,
    {
        mma.SCALED: "scale_a_data scale_b_data",
        sparse.FLOAT: "e",
        sparse.INTEGER: "e",
        sparse.SCALED: "e scale_a_data scale_b_data",
        forms.KIND_SPARSE: "e",
        **{form: "sp_meta" for form in forms_of("wgmma") if "sp_meta" in form.operands},
    },
)
_extend(
    frozenset({"vector"}),
    {
        **dict.fromkeys(_COUNTED_ARRIVALS, "count"),
        **dict.fromkeys((bulk.STORE, multimem.COPY, forms.COPY_MASKED), "byteMask"),
    },
)
_extend(
    frozenset({"special"}),
    {
        **dict.fromkeys((*_LOADS, memory.ST_ASYNC_RELEASE, memory.CREATEPOLICY_RANGE), "a"),
        **{
            form: "disable_output_lane"
            for form in (tcgen05_mma.MMA, tcgen05_mma.MMA_TENSOR, *memory_forms.TENSOR_MEMORY_FORMS)
            if "disable_output_lane" in form.operands
        },
    },
)
_EXTENSIONS[memory.ST_ASYNC, "a"] = frozenset({"special"})
_extend(frozenset({"bare"}), {**dict.fromkeys(_TENSOR_LOADS, "dstMem mbar"), **dict.fromkeys(_TENSOR_STORES, "srcMem")})
_extend(frozenset({"untyped"}), dict.fromkeys((*_TENSOR_LOADS, *_TENSOR_STORES, *_TENSOR_PREFETCHES), "tensorMap"))
_extend(frozenset({"base"}), {barrier.FENCE_PROXY_TENSORMAP: "addr"})
_extend(
    _if(FUNCTION, lambda slots, _: any(word.startswith("bf16") for word in slots.values())),
    {convert.CVT: "d a", convert.HALF: "d a", convert.HALVES: "d a", convert.HALVES_STOCHASTIC: "d a"},
)
_extend(
    _if(FUNCTION, lambda slots, _: (slots["dtype"], slots["atype"]) != ("e2m1x2", "bf16x2")),
    {convert.NARROW_HALVES: "a"},
)
_extend(_if(frozenset({"vector"}), lambda slots, _: not slots["scaling"]), {convert.FIXED: "d"})
_extend(_if(FUNCTION | PACKED, lambda slots, _: not _is_routine(slots)), {floating.DIV: "a b", floating.ROOT: "a"})
# ptxas replaces integer divisions by routines, except in 32 bits.
_extend(_if(FUNCTION | PACKED, lambda slots, _: TYPES[slots["type"]].bits == 32), {integer.DIV: "a b"})
_extend(_if(FUNCTION, lambda slots, _: TYPES[slots["type"]].bits == 16), {memory.ST_ASYNC_RELEASE: "b"})
_extend(_if(FUNCTION, lambda slots, _: slots["atype"] == "bf16x2"), {forms.WITH_SCALE: "a"})
_extend(
    _if(FUNCTION, lambda _, target: target >= 90), {warp.SHFL_SYNC: "a b c", warp.MATCH_ANY: "a", warp.MATCH_ALL: "a"}
)
_extend(_if(PACKED, lambda slots, target: target >= 90 and slots["type"] == "pred"), {warp.VOTE_SYNC: "d"})
_extend(_if(FUNCTION | PACKED, lambda slots, target: target >= 90 and slots["type"] == "pred"), {warp.VOTE_SYNC: "a"})


# Fragments ------------------------------------------------------------------------------------------------

_SPARSE = (sparse.FLOAT, sparse.INTEGER, sparse.SCALED, forms.KIND_SPARSE)
_DENSE = (mma.HALF, mma.FLOAT, mma.DOUBLE, mma.INTEGER, mma.BIT, mma.SCALED, forms.KIND_DENSE, forms.FOUR_BITS)

_hold_fragments(registers.multiplication, dict.fromkeys(_DENSE, "a b c d"))
_hold_fragments(lambda letter: registers.multiplication(letter, sparse=True), dict.fromkeys(_SPARSE, "a b c d"))
_hold_fragments(lambda _: registers.metadata, dict.fromkeys(_SPARSE, "e"))
_hold_fragments(
    registers.opaque_multiplication, dict.fromkeys((wmma.HALF, wmma.FLOAT, wmma.INTEGER, wmma.BIT), "a b c d")
)
_hold_fragments(lambda _: registers.opaque_load, {wmma.LOAD: "r"})
_hold_fragments(lambda _: registers.opaque_store, {wmma.STORE: "r"})
_hold_fragments(
    lambda _: registers.loaded,
    dict.fromkeys((matrix.LDMATRIX, matrix.LDMATRIX_WIDENED, *forms.MANY_LOADED, *forms.MANY_WIDENED), "r"),
)
_hold_fragments(lambda _: registers.stored, dict.fromkeys((matrix.STMATRIX, *forms.MANY_STORED), "r"))


# Operands without sinks, predicates and addresses of variables ---------------------------------------------

_DESCRIPTORS = ("a_desc", "b_desc", "s_desc", "idesc", "disable_output_lane", "zero_column_mask_desc")
_TENSOR_CORE = (*forms_of("wgmma"), *forms_of("tcgen05"), *memory_forms.TENSOR_MEMORY_FORMS)
_REGISTERS_ONLY.update((form, name) for form in _TENSOR_CORE for name in _DESCRIPTORS if name in form.operands)
_REGISTERS_ONLY.update((form, "r") for form in forms_of("tcgen05") if "r" in form.operands)
_REGISTERS_ONLY.update([(mbarrier.TEST_WAIT, "phase"), (mbarrier.TRY_WAIT, "phase")])
_REGISTERS_ONLY.update([(mbarrier.PENDING_COUNT, "state"), (tcgen05.COMMIT, "ctaMask")])
