"""Canonical modifiers of an instruction, which are equal for all spellings of the same instruction."""

from __future__ import annotations

from collections.abc import Mapping

from warploom.isa.instructions import barrier, mbarrier, tcgen05_mma, wmma
from warploom.isa.model.form import Form
from warploom.nvvm.forms import MMA_SCALED, MMA_SPARSE_SCALED, WMMA, forms_in

_SYNONYMS = {"shared::cta": "shared"}
_REDUNDANT_SLOTS = frozenset({"tile", "acquire", "weak"})
"""Names of modifiers that only state a default."""
_DEFAULT_ORDERS: Mapping[Form, Mapping[str, tuple[str, ...]]] = {
    **{form: {"sem": ("acquire", "release"), "scope": ("cta",)} for form in forms_in(mbarrier)},
    mbarrier.TRANSACTIONS: {"sem": ("relaxed",), "scope": ("cta",)},
    barrier.CLUSTER_ARRIVE: {"sem": ("release",)},
}
"""Modifiers of the default memory order, by form and name. An instruction has all of them or none."""
_DISCARD_A = {"collector_usage": "collector::a::discard"}
_DISCARD_B = {"collector_usage": "collector::b0::discard"}
_DEFAULT_WORDS: Mapping[Form, Mapping[str, str]] = {
    **{form: {"aligned": "aligned"} for form in (wmma.LOAD, wmma.STORE, *WMMA)},
    tcgen05_mma.MMA: _DISCARD_A,
    tcgen05_mma.MMA_TENSOR: _DISCARD_A,
    tcgen05_mma.BLOCK: _DISCARD_A,
    tcgen05_mma.BLOCK_TENSOR: _DISCARD_A,
    tcgen05_mma.STATIONARY: _DISCARD_B,
    tcgen05_mma.STATIONARY_TENSOR: _DISCARD_B,
}
_DEFAULT_SCALES = {"kind::mxf4": "scale_vec::2X", "kind::mxf8f6f4": "scale_vec::1X"}
"""Default scale vector size of a warp-level multiplication, by its `.kind`."""


def canonical_words(form: Form, slots: Mapping[str, str]) -> dict[str, str]:
    """Return the modifiers of an instruction by name, with stated defaults removed and synonyms replaced."""
    words = {slot: _SYNONYMS.get(word, word) for slot, word in slots.items() if word and slot not in _REDUNDANT_SLOTS}
    order = _DEFAULT_ORDERS.get(form, {})
    if all(words.get(slot, defaults[0]) in defaults for slot, defaults in order.items()):
        words = {slot: word for slot, word in words.items() if slot not in order}
    if form in MMA_SCALED + MMA_SPARSE_SCALED and (scales := _DEFAULT_SCALES.get(words.get("kind", ""))):
        words.setdefault("scale_vec", scales)
    return {**_DEFAULT_WORDS.get(form, {}), **words}
