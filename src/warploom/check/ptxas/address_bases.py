"""Registers that ptxas refuses as the base of an address, by form and operand.

Source: answers of ptxas 12.9 to 13.5 for each form, operand and target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from warploom.check.ptxas import forms, memory_forms
from warploom.isa.instructions import (
    async_copy,
    atomic,
    bulk,
    matrix,
    mbarrier,
    memory,
    multimem,
    tcgen05,
    tensor,
    tensormap,
    wmma,
)  # fmt: skip
from warploom.isa.model.form import Form
from warploom.isa.model.operands import Slots

NARROW = (8, 16)
"""Widths of registers that ptxas cannot move to an address."""

Widths = Collection[int] | Callable[[Slots, int], Collection[int]]

_REFUSED_BASES: dict[tuple[Form, str], Widths] = {}


def refused_bases(form: Form, operand: str, slots: Slots, target: int) -> Collection[int]:
    """Return the widths in bits of registers that ptxas refuses as the base of an address."""
    found = _REFUSED_BASES.get((form, operand), ())
    return found(slots, target) if callable(found) else found


def _refuse_bases(widths: Widths, operands: Mapping[Form, str]) -> None:
    for form, names in operands.items():
        _REFUSED_BASES.update(dict.fromkeys(((form, name) for name in names.split()), widths))


# Bases of addresses ---------------------------------------------------------------------------------------

_NAMED_PARAMETERS = 75
"""First target on which ptxas requires a name in `.param::func`."""


def _generic_or_global(slots: Slots, target: int) -> Collection[int]:
    """Refuse 32 bits for generic and global addresses, and registers for function parameters on later targets."""
    space = slots.get("ss", slots.get("space", ""))
    if space == "param::func" and target >= _NAMED_PARAMETERS:
        return (8, 16, 32, 64)
    return (32,) if space in ("", "global") else ()


def _loads_into_cluster(slots: Slots, target: int) -> Collection[int]:
    """Refuse narrow registers for loads into a cluster that ptxas implements in software."""
    return NARROW if slots["dst"] == "shared::cluster" and target >= 120 else ()


def _barrier_of_load(slots: Slots, target: int) -> Collection[int]:
    """Refuse narrow registers for the mbarrier of a load if it is the last operand."""
    is_last = not slots["multicast"] and not slots["level::cache_hint"]
    return NARROW if is_last else _loads_into_cluster(slots, target)


def _narrow_if_generic(slots: Slots, target: int) -> Collection[int]:
    """Refuse narrow registers for generic addresses, which are widened from the register."""
    return () if slots.get("ss", slots.get("space")) else NARROW


def _object(slots: Slots, target: int) -> Collection[int]:
    """Refuse 32 bits for generic addresses of mbarrier objects."""
    return () if slots["space"] else (32,)


def _prefetched(slots: Slots, target: int) -> Collection[int]:
    """Refuse narrow registers for tensor maps, and 32 bits except for local memory."""
    return NARROW if slots["level"] == "tensormap" else (32,) if slots["space"] != "local" else ()


_refuse_bases(
    _narrow_if_generic,
    {
        async_copy.ARRIVE: "addr",
        matrix.LDMATRIX: "p",
        matrix.LDMATRIX_WIDENED: "p",
        matrix.STMATRIX: "p",
        memory.ST_ASYNC: "mbar",
        memory_forms.ASYNC_STORE: "mbar",
        memory_forms.ASYNC_STORE_ONE: "mbar",
        memory_forms.ASYNC_STORE_MANY: "mbar",
        **dict.fromkeys((*forms.MANY_LOADED, *forms.MANY_WIDENED, *forms.MANY_STORED), "p"),
    },
)
_refuse_bases(
    _generic_or_global,
    {
        atomic.ATOM: "a",
        atomic.CAS: "a",
        atomic.RED: "a",
        atomic.ATOM_VECTOR: "a",
        atomic.RED_VECTOR: "a",
        memory.LD: "a",
        memory.LD_ORDERED: "a",
        memory.LD_VOLATILE: "a",
        memory.LD_MMIO: "a",
        memory.LD_NC: "a",
        memory.LDU: "a",
        memory.ST: "a",
        memory.ST_ORDERED: "a",
        memory.ST_VOLATILE: "a",
        memory.ST_MMIO: "a",
        memory_forms.NARROW_EIGHT_LOADED: "a",
        memory_forms.NARROW_EIGHT_STORED: "a",
        memory_forms.ATOM_THIRD: "a",
    },
)
_refuse_bases(
    NARROW,
    {
        atomic.RED_ASYNC: "a mbar",
        atomic.RED_ASYNC_RELEASE: "a",
        bulk.COPY_IN_CLUSTER: "mbar",
        bulk.ZERO: "a",
        bulk.ZERO_NARROW: "a",
        memory.ST_ASYNC: "a",
        memory.ST_ASYNC_RELEASE: "a",
        memory.CREATEPOLICY_RANGE: "a",
        tcgen05.ALLOC: "dst",
        tcgen05.COMMIT: "mbar",
        tensormap.REPLACE: "addr",
        tensormap.REPLACE_RANK: "addr",
        tensormap.REPLACE_ENTRY: "addr",
        tensormap.REPLACE_CODE: "addr",
        tensormap.REPLACE_NEW_CODE: "addr",
        wmma.LOAD: "p",
        wmma.STORE: "p",
        forms.WIDE_SUBBYTE_LOAD: "p",
        forms.WIDE_SUBBYTE_STORE: "p",
        forms.LOAD_UNTYPED: "p",
        forms.ROW_FIFTH_STRIDE: "addr",
        memory_forms.ASYNC_STORE: "a",
        memory_forms.ASYNC_STORE_ONE: "a",
        memory_forms.ASYNC_STORE_MANY: "a",
        memory_forms.ASYNC_STORE_ALONE: "a",
        memory_forms.ASYNC_STORE_GLOBAL: "a",
        memory_forms.ASYNC_RED: "a",
        memory_forms.ASYNC_RED_GLOBAL: "a",
    },
)
_refuse_bases(
    _loads_into_cluster,
    {
        bulk.LOAD: "dstMem srcMem",
        tensor.LOAD: "dstMem tensorMap mbar",
        tensor.GATHER: "dstMem tensorMap mbar",
        tensor.LOAD_IM2COL: "dstMem tensorMap mbar",
    },
)
_refuse_bases(_barrier_of_load, {bulk.LOAD: "mbar"})
_refuse_bases(
    _object,
    {
        mbarrier.INIT: "addr",
        mbarrier.INVAL: "addr",
        mbarrier.TRANSACTIONS: "addr",
        mbarrier.ARRIVE: "addr",
        mbarrier.ARRIVE_DISCARD: "addr",
        mbarrier.ARRIVE_COUNT: "addr",
        mbarrier.ARRIVE_REMOTE: "addr",
        mbarrier.ARRIVE_NO_COMPLETE: "addr",
        mbarrier.ARRIVE_NO_COMPLETE_DISCARD: "addr",
        mbarrier.ARRIVE_EXPECT: "addr",
        mbarrier.ARRIVE_EXPECT_REMOTE: "addr",
        mbarrier.TEST_WAIT: "addr",
        mbarrier.TRY_WAIT: "addr",
    },
)
_refuse_bases(_prefetched, {memory.PREFETCH: "a"})
_refuse_bases(
    (32,),
    {
        memory.PREFETCHU: "a",
        memory.APPLYPRIORITY: "a",
        memory.DISCARD: "a",
        multimem.LD_REDUCE: "a",
        multimem.LD_REDUCE_FLOAT: "a",
        multimem.ST: "a",
        multimem.ST_FLOAT: "a",
        forms.ROW_PREDICATE: "a",
    },
)
_refuse_bases((8, 16, 32), {multimem.RED: "a", forms.ROW_MULTIMEM: "a"})
