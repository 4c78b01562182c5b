"""Multiplications in tensor memory that ptxas accepts and the manual does not have.

ptxas accepts a predicate in place of the lane masks, and a scale for integers.

Source: answers of ptxas 12.9 to 13.5
"""

from __future__ import annotations

from warploom.check.ptxas.extension import ExtensionForm
from warploom.isa.instructions.tcgen05_mma import GROUPS, INTEGER, KEPT, SHIFTED, SOURCE, multiplication_operands

_REASONS = {"lane": "lanes", "scale": "scale-input-d"}

_VARIANTS = (
    ("lane", "disable-lane, enable-input-d, scale-input-d", "-,sp", "kind::f16,kind::tf32", "sm_100f"),
    ("lane", "disable-lane, enable-input-d", "-,sp", "kind::i8", INTEGER),
    ("lane", "disable-lane, enable-input-d, any-scale", "-", "kind::i8", INTEGER),
    ("scale", "disable-output-lane, enable-input-d, any-scale", "-", "kind::i8", INTEGER),
    ("scale", "enable-input-d, any-scale", "-,sp", "kind::i8", INTEGER),
)

FORMS = tuple(
    ExtensionForm(
        reason=_REASONS[what],
        name=f"ptxas.{what}_{k}{a.strip('[]')[1:]}",
        syntax=f"tcgen05.mma{{.sp}}.cta_group.kind{{.ashift}}{{.collector_usage}}"
        f"  [d-tmem], {a}, b-desc{{, [sp-meta-tmem]}}, idesc, {last};",
        rows=f"""
            sp    cta_group  kind     ashift      collector_usage  ptx  target
            {sp}  {GROUPS}  {kinds}  -           {KEPT}          8.6  {targets}
        """
        + (f"{sp} {GROUPS} {kinds} ashift {SHIFTED} 8.6 {targets}" if a == "[a-tmem]" else ""),
        operands=multiplication_operands(*last.replace("-", "_").split(", "), tensor=a == "[a-tmem]"),
        source=f"{SOURCE}.1",
    )
    for k, (what, last, sp, kinds, targets) in enumerate(_VARIANTS)
    for a in ("a-desc", "[a-tmem]")
)
