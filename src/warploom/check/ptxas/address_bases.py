"""Registers that ptxas refuses as the base of an address, by Form and operand.

Source: answers of ptxas 12.9 to 13.5 for each Form, operand and target
"""

from collections.abc import Callable, Collection, Mapping

from warploom.check.ptxas import forms, memory_forms
from warploom.isa.instructions import async_copy, atomic, bulk, matrix, memory, multimem, tcgen05, tensor, wmma
from warploom.isa.model.form import Form, forms_of
from warploom.isa.model.operands import Slots

NARROW = (8, 16)
"""Widths in bits of registers that ptxas cannot move to an address register."""

Widths = Collection[int] | Callable[[Slots, int], Collection[int]]

_REFUSED_BASES: dict[tuple[Form, str], Widths] = {}


def refused_bases(form: Form, operand: str, slots: Slots, target: int) -> Collection[int]:
    """Return the widths in bits of registers that ptxas refuses as the base of an address operand.

    `slots` has the modifiers of the opcode, and `target` is a number such as 90.
    """
    found = _REFUSED_BASES.get((form, operand), ())
    return found(slots, target) if callable(found) else found


def _refuse_bases(widths: Widths, operands: Mapping[Form, str]) -> None:
    for form, names in operands.items():
        _REFUSED_BASES.update(dict.fromkeys(((form, name) for name in names.split()), widths))


_NAMED_PARAMETERS = 75
"""First target on which ptxas refuses a register as the base of an address in `.param::func`."""


def _generic_or_global(slots: Slots, target: int) -> Collection[int]:
    """Return the refused widths of base registers for a generic or global address."""
    space = slots.get("ss", slots.get("space", ""))
    # From target 75 on, ptxas refuses all registers here.
    if space == "param::func" and target >= _NAMED_PARAMETERS:
        return (8, 16, 32, 64)
    return (32,) if space in ("", "global") else ()


def _loads_into_cluster(slots: Slots, target: int) -> Collection[int]:
    """Return the refused widths of base registers for a load into cluster shared memory."""
    # These targets implement the loads in software.
    return NARROW if slots["dst"] == "shared::cluster" and target >= 120 else ()


def _barrier_of_load(slots: Slots, target: int) -> Collection[int]:
    """Return the refused widths of base registers for the mbarrier of a load."""
    is_last = not slots["multicast"] and not slots["level::cache_hint"]
    return NARROW if is_last else _loads_into_cluster(slots, target)


_ASYNC_STORES = (memory_forms.ASYNC_STORE, memory_forms.ASYNC_STORE_ONE, memory_forms.ASYNC_STORE_MANY)
_LOADS = (memory.LD, memory.LD_ORDERED, memory.LD_VOLATILE, memory.LD_MMIO, memory.LD_NC, memory.LDU)
_STORES = (memory.ST, memory.ST_ORDERED, memory.ST_VOLATILE, memory.ST_MMIO)
_ATOMICS = (atomic.ATOM, atomic.CAS, atomic.RED, atomic.ATOM_VECTOR, atomic.RED_VECTOR, memory_forms.ATOM_THIRD)
_MATRICES = (matrix.LDMATRIX, matrix.LDMATRIX_WIDENED, matrix.STMATRIX)
_MANY_MATRICES = (*forms.MANY_LOADED, *forms.MANY_WIDENED, *forms.MANY_STORED)
_FRAGMENTS = (
    wmma.LOAD, wmma.STORE, forms.WIDE_SUBBYTE_LOAD, forms.WIDE_SUBBYTE_STORE, forms.LOAD_UNTYPED,
    forms.LOAD_UNSIGNED, forms.STORE_UNSIGNED,
)  # fmt: skip
_SINGLE_ASYNC = (
    *_ASYNC_STORES, memory.ST_ASYNC, memory.ST_ASYNC_RELEASE, atomic.RED_ASYNC, atomic.RED_ASYNC_RELEASE,
    memory_forms.ASYNC_STORE_ALONE, memory_forms.ASYNC_STORE_GLOBAL, memory_forms.ASYNC_RED,
    memory_forms.ASYNC_RED_GLOBAL,
)  # fmt: skip
_WIDE_LOADS = (multimem.LD_REDUCE, multimem.LD_REDUCE_FLOAT, forms.ROW_PREDICATE)
_CACHE_HINTS = (memory.PREFETCHU, memory.APPLYPRIORITY, memory.DISCARD)

_refuse_bases(
    # ptxas widens a register to a generic address.
    lambda slots, _: () if slots.get("ss", slots.get("space")) else NARROW,
    {
        **dict.fromkeys((memory.ST_ASYNC, *_ASYNC_STORES), "mbar"),
        **dict.fromkeys((*_MATRICES, *_MANY_MATRICES), "p"),
        async_copy.ARRIVE: "addr",
    },
)
_refuse_bases(_generic_or_global, dict.fromkeys((*_ATOMICS, *_LOADS, *_STORES), "a"))
_refuse_bases(_generic_or_global, {memory_forms.NARROW_EIGHT_LOADED: "a", memory_forms.NARROW_EIGHT_STORED: "a"})
_refuse_bases(
    NARROW,
    {
        **dict.fromkeys((*_SINGLE_ASYNC, bulk.ZERO, bulk.ZERO_NARROW, memory.CREATEPOLICY_RANGE), "a"),
        **dict.fromkeys(_FRAGMENTS, "p"),
        **{form: "addr" for form in (*forms_of("tensormap"), forms.ROW_FIFTH_STRIDE) if "addr" in form.operands},
        **dict.fromkeys((bulk.COPY_IN_CLUSTER, tcgen05.COMMIT), "mbar"),
        tcgen05.ALLOC: "dst",
    },
)
_refuse_bases(NARROW, {atomic.RED_ASYNC: "mbar"})
_refuse_bases(
    _loads_into_cluster,
    {
        bulk.LOAD: "dstMem srcMem",
        **dict.fromkeys((tensor.LOAD, tensor.GATHER, tensor.LOAD_IM2COL), "dstMem tensorMap mbar"),
    },
)
_refuse_bases(_barrier_of_load, {bulk.LOAD: "mbar"})
# Generic addresses of mbarrier objects have 64 bits.
_refuse_bases(
    lambda slots, _: () if slots["space"] else (32,),
    {form: "addr" for form in forms_of("mbarrier") if "addr" in form.operands},
)
_refuse_bases(
    lambda slots, _: NARROW if slots["level"] == "tensormap" else (32,) if slots["space"] != "local" else (),
    {memory.PREFETCH: "a"},
)
_refuse_bases((32,), dict.fromkeys((*_CACHE_HINTS, *_WIDE_LOADS, multimem.ST, multimem.ST_FLOAT), "a"))
_refuse_bases((8, 16, 32), {multimem.RED: "a", forms.ROW_MULTIMEM: "a"})
