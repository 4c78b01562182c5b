"""Operands for which ptxas deviates from the manual, by form and operand.

Source: answers of ptxas 12.9 to 13.5 for each form, operand and target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from warploom.check.ptxas import forms, memory_forms, tensor_memory_forms
from warploom.check.ptxas import fragment_registers as registers
from warploom.check.ptxas.fragment_registers import FragmentRule
from warploom.isa.instructions import (
    approximate,
    atomic,
    barrier,
    bits,
    bulk,
    cluster_launch,
    compare,
    convert,
    floating,
    half,
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
"""Operands of forms: their names, separated by spaces."""


def extensions_of(form: Form, operand: str, slots: Slots, target: int) -> Collection[str]:
    """Return the kinds of syntax beyond the manual that ptxas accepts for an operand."""
    found = _EXTENSIONS.get((form, operand), ())
    return found(slots, target) if callable(found) else found


def fragment_rule(form: Form, operand: str) -> FragmentRule | None:
    """Return the rule for the registers of a fragment, or None if the operand is no fragment."""
    return _FRAGMENTS.get((form, operand))


def takes_registers_only(form: Form, operand: str) -> bool:
    """Return True if ptxas accepts neither sinks, predicates nor addresses of variables for an operand."""
    return (form, operand) in _REGISTERS_ONLY


def _extend(extensions: Extensions, operands: Operands) -> None:
    for form, names in operands.items():
        _EXTENSIONS.update(dict.fromkeys(((form, name) for name in names.split()), extensions))


def _hold_fragments(rule: Callable[[str], FragmentRule], operands: Operands) -> None:
    for form, names in operands.items():
        _FRAGMENTS.update({(form, name): rule(name) for name in names.split()})


def _of_bf16(words: frozenset[str]) -> Extensions:
    """Return the extensions of conversions from or to bf16 only."""
    return lambda slots, target: words if any(word.startswith("bf16") for word in slots.values()) else ()


def _from_target(number: int, words: frozenset[str]) -> Extensions:
    """Return the extensions on targets from a number on."""
    return lambda slots, target: words if target >= number else ()


def _division(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of divisions, which are routines except in 32 bits."""
    return FUNCTION | PACKED if TYPES[slots["type"]].bits == 32 else ()


def _rounded_division(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of divisions and roots, which are routines unless rounding is to nearest."""
    is_routine = slots["rnd"] != "rn" and (slots.get("op") is None or slots["type"] == "f64")
    return () if is_routine else FUNCTION | PACKED


def _narrowed_pair(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of conversions of pairs, except that from bf16x2 to e2m1x2."""
    return () if (slots["dtype"], slots["atype"]) == ("e2m1x2", "bf16x2") else FUNCTION


def _unscaled(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of fixed-point conversions without a scale."""
    return () if slots["scaling"] else frozenset({"vector"})


def _half_word(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of asynchronous stores of 16 bits."""
    return FUNCTION if TYPES[slots["type"]].bits == 16 else ()


def _scaled_source(slots: Slots, target: int) -> Collection[str]:
    """Return the extensions of scaled conversions from bf16x2."""
    return FUNCTION if slots["atype"] == "bf16x2" else ()


# Extensions -----------------------------------------------------------------------------------------------

_extend(
    FUNCTION | PACKED,
    {
        approximate.FUNCTION: "a",
        approximate.RCP64: "a",
        approximate.TANH: "a",
        approximate.HALF: "a",
        approximate.DIV: "a b",
        approximate.DIV_FULL: "a b",
        atomic.ATOM: "b",
        atomic.CAS: "b c",
        atomic.RED: "b",
        atomic.RED_ASYNC: "b",
        bits.SHIFT: "a",
        bits.FUNNEL: "a b",
        bits.COUNT: "a",
        bits.BFIND: "a",
        bits.FNS: "mask base offset",
        bits.BREV: "a",
        bits.BFE: "a",
        bits.BFI: "a b",
        bits.SZEXT: "a",
        bits.PRMT: "a b c",
        compare.SETP: "a b",
        compare.SETP_HALF: "a b",
        compare.SETP_PAIR: "a b",
        compare.SET: "a b",
        compare.SELP: "a b",
        compare.SLCT: "a b c",
        convert.NARROW: "a b",
        convert.FIXED: "a b",
        convert.FIXED_HALVES: "a",
        convert.PACK: "a b",
        convert.PACK_ONTO: "a b c",
        floating.ADD: "a b",
        floating.FMA: "a b c",
        floating.ADD2: "a b",
        floating.FMA2: "a b c",
        floating.ABS: "a",
        floating.MIN: "a b",
        floating.MIN3: "a b c",
        floating.COPYSIGN: "a b",
        floating.TESTP: "a",
        half.ADD: "a b",
        half.FMA: "a b c",
        half.FMA_OOB: "a b c",
        half.ABS: "a",
        half.MIN: "a b",
        half.MIXED_ADD: "a c",
        half.MIXED_FMA: "a b c",
        integer.ADD: "a b",
        integer.MUL: "a b",
        integer.MAD: "a b c",
        integer.MUL24: "a b",
        integer.MAD24: "a b c",
        integer.SAD: "a b c",
        integer.ABS: "a",
        integer.MIN: "a b",
        integer.DP4A: "a b",
        integer.DP2A: "a b",
        integer.ADD_CARRY: "a b",
        integer.MAD_CARRY: "a b c",
        logic.BITWISE: "a b",
        logic.NOT: "a",
        logic.CNOT: "a",
        logic.LOP3: "a b c",
        logic.LOP3_BOOL: "a b c",
        memory.CVTA_TO: "a",
        move.MOV_PREDICATE: "a",
        stack.ALLOCA: "size",
        forms.CARRY_ADD: "a b",
        forms.CARRY_MAD: "a b c",
        forms.WITHOUT_PROPERTY: "a",
        forms.WITHOUT_PAIR: "a b",
        forms.ROW_FMA: "a b c",
        forms.WITH_FLUSH: "a",
        convert.HALVES: "b",
        convert.HALVES_STOCHASTIC: "b",
        convert.TF32: "a",
    },
)
_extend(
    FUNCTION,
    {
        cluster_launch.IS_CANCELED: "response",
        cluster_launch.FIRST_CTA: "response",
        cluster_launch.FIRST_CTA_COORDINATE: "response",
        memory.ST: "b",
        memory.ST_ORDERED: "b",
        memory.ST_VOLATILE: "b",
        memory.ST_MMIO: "b",
        memory.ST_ASYNC: "b",
        memory.MAPA: "a",
        memory.GETCTARANK: "a",
        move.MOV: "a",
        move.UNPACK1: "a",
        move.UNPACK2: "a",
        move.UNPACK4: "a",
        multimem.ST: "b",
        multimem.ST_FLOAT: "b",
        multimem.RED: "b",
        tensormap.REPLACE_RANK: "new_val",
        tensormap.REPLACE_ENTRY: "new_val",
        video.ARITHMETIC: "a b",
        video.ARITHMETIC_MERGED: "a b c",
        video.SHIFT: "a b",
        video.SHIFT_MERGED: "a b c",
        video.MAD: "a b c",
        video.MAD_NEGATED: "a b c",
        video.MAD_PLUS_ONE: "a b c",
        video.SET: "a b",
        video.SET_MERGED: "a b",
        warp.REDUX_FLOAT: "a",
        forms.ROW_FIFTH_STRIDE: "new_val",
        memory_forms.ASYNC_STORE: "b",
        memory_forms.ASYNC_STORE_ONE: "b",
        memory_forms.ASYNC_STORE_ALONE: "b",
        memory_forms.ASYNC_STORE_GLOBAL: "b",
        memory_forms.ASYNC_RED: "b",
        memory_forms.ATOM_THIRD: "b",
    },
)
_extend(PACKED, {barrier.BARRIER_RED: "d", logic.BITWISE: "d", logic.NOT: "d", move.MOV_PREDICATE: "d"})
_extend(
    PREDICATE,
    {
        matrix.LDMATRIX: "r",
        matrix.LDMATRIX_WIDENED: "r",
        matrix.MOVMATRIX: "d a",
        wgmma.INTEGER_REGISTERS: "a",
        wgmma.BIT_REGISTERS: "a",
        wgmma.SPARSE_INTEGER_REGISTERS: "a",
        forms.KIND_DENSE: "a b c d",
        forms.FOUR_BITS: "a b c d",
        forms.KIND_SPARSE: "a b c d",
        **dict.fromkeys((*forms.MANY_LOADED, *forms.MANY_WIDENED), "r"),
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
    },
)
_extend(
    frozenset({"vector"}),
    {
        bulk.STORE: "byteMask",
        mbarrier.ARRIVE_COUNT: "count",
        mbarrier.ARRIVE_REMOTE: "count",
        mbarrier.ARRIVE_NO_COMPLETE: "count",
        mbarrier.ARRIVE_NO_COMPLETE_DISCARD: "count",
        multimem.COPY: "byteMask",
        forms.COPY_MASKED: "byteMask",
    },
)
_extend(
    frozenset({"special"}),
    {
        memory.LD: "a",
        memory.LD_ORDERED: "a",
        memory.LD_VOLATILE: "a",
        memory.LD_MMIO: "a",
        memory.LD_NC: "a",
        memory.LDU: "a",
        memory.ST_ASYNC: "a",
        memory.ST_ASYNC_RELEASE: "a",
        memory.CREATEPOLICY_RANGE: "a",
        tcgen05_mma.MMA: "disable_output_lane",
        tcgen05_mma.MMA_TENSOR: "disable_output_lane",
    },
)
_extend(
    frozenset({"bare"}),
    {
        tensor.LOAD: "dstMem mbar",
        tensor.STORE: "srcMem",
        tensor.REDUCE: "srcMem",
        tensor.GATHER: "dstMem mbar",
        tensor.SCATTER: "srcMem",
        tensor.LOAD_IM2COL: "dstMem mbar",
        tensor.STORE_IM2COL: "srcMem",
        tensor.REDUCE_IM2COL: "srcMem",
        forms.ROW_SCATTER: "srcMem",
    },
)
_extend(
    frozenset({"untyped"}),
    {
        tensor.LOAD: "tensorMap",
        tensor.STORE: "tensorMap",
        tensor.REDUCE: "tensorMap",
        tensor.PREFETCH: "tensorMap",
        tensor.GATHER: "tensorMap",
        tensor.SCATTER: "tensorMap",
        tensor.PREFETCH_ROWS: "tensorMap",
        tensor.LOAD_IM2COL: "tensorMap",
        tensor.STORE_IM2COL: "tensorMap",
        tensor.REDUCE_IM2COL: "tensorMap",
        tensor.PREFETCH_IM2COL: "tensorMap",
        forms.ROW_SCATTER: "tensorMap",
    },
)
_extend(frozenset({"base"}), {barrier.FENCE_PROXY_TENSORMAP: "addr"})
_extend(
    _of_bf16(FUNCTION),
    {convert.CVT: "d a", convert.HALF: "d a", convert.HALVES: "d a", convert.HALVES_STOCHASTIC: "d a"},
)
_extend(_narrowed_pair, {convert.NARROW_HALVES: "a"})
_extend(_unscaled, {convert.FIXED: "d"})
_extend(_rounded_division, {floating.DIV: "a b", floating.ROOT: "a"})
_extend(_division, {integer.DIV: "a b"})
_extend(_half_word, {memory.ST_ASYNC_RELEASE: "b"})
_extend(_scaled_source, {forms.WITH_SCALE: "a"})
_extend(_from_target(90, FUNCTION), {warp.SHFL_SYNC: "a b c", warp.MATCH_ANY: "a", warp.MATCH_ALL: "a"})
_extend(_from_target(90, PACKED), {warp.VOTE_SYNC: "d"})
_extend(_from_target(90, FUNCTION | PACKED), {warp.VOTE_SYNC: "a"})
_extend(VECTORS | PREDICATE, {form: "sp_meta" for form in forms_of("wgmma") if "sp_meta" in form.operands})
_extend(
    frozenset({"special"}),
    {form: "disable_output_lane" for form in tensor_memory_forms.FORMS if "disable_output_lane" in form.operands},
)


# Fragments ------------------------------------------------------------------------------------------------

_SPARSE = (sparse.FLOAT, sparse.INTEGER, sparse.SCALED, forms.KIND_SPARSE)
_DENSE = (
    mma.HALF, mma.FLOAT, mma.DOUBLE, mma.INTEGER, mma.BIT, mma.SCALED, forms.KIND_DENSE, forms.FOUR_BITS,
)  # fmt: skip

_hold_fragments(registers.multiplication, dict.fromkeys(_DENSE, "a b c d"))
_hold_fragments(registers.sparse_multiplication, dict.fromkeys(_SPARSE, "a b c d"))
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
_TENSOR_CORE = (*forms_of("wgmma"), *forms_of("tcgen05"), *tensor_memory_forms.FORMS)
_REGISTERS_ONLY.update((form, name) for form in _TENSOR_CORE for name in _DESCRIPTORS if name in form.operands)
_REGISTERS_ONLY.update((form, "r") for form in forms_of("tcgen05") if "r" in form.operands)
_REGISTERS_ONLY.update(
    [
        (mbarrier.TEST_WAIT, "phase"),
        (mbarrier.TRY_WAIT, "phase"),
        (mbarrier.PENDING_COUNT, "state"),
        (tcgen05.COMMIT, "ctaMask"),
    ]
)
