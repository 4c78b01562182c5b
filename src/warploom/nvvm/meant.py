"""What the words of an instruction mean: of several ways to say the same, one."""

from __future__ import annotations

from collections.abc import Mapping

_SAME = {"shared::cta": "shared"}
"""Words that say the same."""
_NOTHING = frozenset({"tile", "acquire", "weak"})
"""Slots of words that say what holds without them too."""
_ORDERS = {
    "mbarrier.transactions": {"sem": ("relaxed",), "scope": ("cta",)},
    "mbarrier": {"sem": ("acquire", "release"), "scope": ("cta",)},
    "barrier.cluster_arrive": {"sem": ("release",)},
}
"""The orders that hold where none is said, by form or family; all of the slots have these words, or none has."""
_ALIGNED = {"aligned": "aligned"}
_DISCARDED = {"collector_usage": "collector::a::discard"}
_UNSAID = {
    "wmma.load": _ALIGNED,
    "wmma.store": _ALIGNED,
    "wmma.half": _ALIGNED,
    "tcgen05.mma": _DISCARDED,
    "tcgen05.mma-tensor": _DISCARDED,
    "tcgen05.block": _DISCARDED,
    "tcgen05.block-tensor": _DISCARDED,
    "tcgen05.ws": {"collector_usage": "collector::b0::discard"},
    "tcgen05.ws-tensor": {"collector_usage": "collector::b0::discard"},
}
"""The words that hold where none stands in their place."""
_SCALES = {"kind::mxf4": "scale_vec::2X", "kind::mxf8f6f4": "scale_vec::1X"}
"""How many scales a warp-level multiplication of a kind has where nothing is said."""


def meant(form: str, slots: Mapping[str, str]) -> dict[str, str]:
    """The words of an instruction by slot, in one of the ways to say the same."""
    said = {slot: _SAME.get(word, word) for slot, word in slots.items() if word and slot not in _NOTHING}
    usual = _ORDERS.get(form) or _ORDERS.get(form.partition(".")[0], {})
    if all(said.get(slot, words[0]) in words for slot, words in usual.items()):
        said = {slot: word for slot, word in said.items() if slot not in usual}
    if form.endswith(".scaled") and (scales := _SCALES.get(said.get("kind", ""))):
        said.setdefault("scale_vec", scales)
    return _UNSAID.get(form, {}) | said
