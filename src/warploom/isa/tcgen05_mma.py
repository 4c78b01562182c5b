"""Multiplication of matrices in tensor memory, dense and sparse, block-scaled and weight-stationary.

A comes from tensor memory or from shared memory behind a descriptor, B from shared memory; D is in tensor
memory. Shapes and exact types are in the instruction descriptor, a value of the run. Nothing here is executed.

Source: PTX ISA 9.7.16.10
"""

from __future__ import annotations

from warploom.isa.kit import Form
from warploom.isa.operands import Place, Slots, immediate, inp, pred_in, tensor_address

_GROUPS = "cta_group::1,cta_group::2"
_FAMILY = "sm_100f,sm_110f"
_EXACT = "sm_100a,sm_103a,sm_110a"
_KEPT = "-,collector::a::fill,collector::a::use,collector::a::lastuse,collector::a::discard"
_SHIFTED = "-,collector::a::lastuse,collector::a::discard"
_BUFFERS = ",".join(
    f"collector::b{n}::{use}" for n in range(4) for use in ("fill", "use", "lastuse", "discard")
)
_SOURCE = "PTX ISA 9.7.16.10.9"


def _lane_masks(slots: Slots) -> int:
    """A mask of 32 bits for every 32 of the lanes that D lies in: 128 of each CTA."""
    return 4 * int(slots["cta_group"][-1])


def _scales(slots: Slots) -> range:
    """Powers of two that D may be divided by before the sum."""
    return range(16 if slots["kind"] in ("kind::f16", "kind::tf32") else 0)


def _operands(*more: str, tensor: bool) -> dict[str, Place]:
    """The operands of every multiplication, and more of them."""
    taddr = tensor_address("bits")
    places = {
        "d_tmem": taddr,
        "a_tmem" if tensor else "a_desc": taddr if tensor else inp("u64"),
        "b_desc": inp("u64"),
        "sp_meta_tmem": tensor_address("bits", when="sp"),
        "idesc": inp("u32"),
        "enable_input_d": pred_in(),
    }
    others = {
        "disable_output_lane": inp("b32", _lane_masks),
        "scale_input_d": immediate(values=_scales, target="sm_100f"),
        "scale_A_tmem": taddr,
        "scale_B_tmem": taddr,
        "zero_column_mask_desc": inp("u64"),
    }
    return places | {name: others[name] for name in more}


_PLAIN = ("disable_output_lane", "scale_input_d")
_BLOCK = ("scale_A_tmem", "scale_B_tmem")

MMA = Form(
    name="tcgen05.mma",
    syntax="tcgen05.mma{.sp}.cta_group.kind{.collector_usage}  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc"
    "{, disable-output-lane}, enable-input-d{, scale-input-d};",
    rows=f"""
        sp     cta_group  kind                             collector_usage  ptx  target
        -,sp   {_GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  {_KEPT}        8.6  {_FAMILY}
        -,sp   {_GROUPS}  kind::i8                         {_KEPT}          8.6  sm_100a,sm_110a
    """,
    operands=_operands(*_PLAIN, tensor=False),
    touches="tensor async",
    source=_SOURCE,
)

MMA_TENSOR = Form(
    name="tcgen05.mma-tensor",
    syntax="tcgen05.mma{.sp}.cta_group.kind{.ashift}{.collector_usage}"
    "  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc"
    "{, disable-output-lane}, enable-input-d{, scale-input-d};",
    rows=f"""
        sp    cta_group  kind                               ashift  collector_usage  ptx  target
        -,sp  {_GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  -       {_KEPT}          8.6  {_FAMILY}
        -,sp  {_GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  ashift  {_SHIFTED}       8.6  {_FAMILY}
        -,sp  {_GROUPS}  kind::i8                           -       {_KEPT}          8.6  sm_100a,sm_110a
        -,sp  {_GROUPS}  kind::i8                           ashift  {_SHIFTED}       8.6  sm_100a,sm_110a
    """,
    operands=_operands(*_PLAIN, tensor=True),
    touches="tensor async",
    source=_SOURCE,
)

_BLOCK_ROWS = f"""
    sp    cta_group  kind            scale_vectorsize             collector_usage  ptx  target
    -,sp  {_GROUPS}  kind::mxf8f6f4  -                            {_KEPT}          8.6  {_FAMILY}
    -,sp  {_GROUPS}  kind::mxf8f6f4  scale_vec::1X                {_KEPT}          8.6  {_EXACT}
    -,sp  {_GROUPS}  kind::mxf8f6f4  block32                      {_KEPT}          8.8  {_FAMILY}
    -     {_GROUPS}  kind::mxf4      -                            {_KEPT}          8.6  {_FAMILY}
    sp    {_GROUPS}  kind::mxf4      -                            {_KEPT}          8.6  {_EXACT}
    -,sp  {_GROUPS}  kind::mxf4      scale_vec::2X                {_KEPT}          8.6  {_EXACT}
    -     {_GROUPS}  kind::mxf4      block32                      {_KEPT}          8.8  {_FAMILY}
    sp    {_GROUPS}  kind::mxf4      block32                      {_KEPT}          8.8  {_EXACT}
    -,sp  {_GROUPS}  kind::mxf4nvf4  scale_vec::2X,scale_vec::4X  {_KEPT}          8.7  {_EXACT}
    -     {_GROUPS}  kind::mxf4nvf4  block16,block32              {_KEPT}          8.8  {_FAMILY}
    sp    {_GROUPS}  kind::mxf4nvf4  block16,block32              {_KEPT}          8.8  {_EXACT}
"""

BLOCK = Form(
    name="tcgen05.block",
    syntax="tcgen05.mma{.sp}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage}"
    "  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;",
    rows=_BLOCK_ROWS,
    operands=_operands(*_BLOCK, tensor=False),
    touches="tensor async",
    source=_SOURCE,
)

BLOCK_TENSOR = Form(
    name="tcgen05.block-tensor",
    syntax="tcgen05.mma{.sp}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage}"
    "  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;",
    rows=_BLOCK_ROWS,
    operands=_operands(*_BLOCK, tensor=True),
    touches="tensor async",
    source=_SOURCE,
)

_STATIONARY_ROWS = f"""
    sp    cta_group     kind                               collector_usage  ptx  target
    -,sp  cta_group::1  kind::f16,kind::tf32,kind::f8f6f4  -,{_BUFFERS}     8.6  {_FAMILY}
    -,sp  cta_group::1  kind::i8                           -,{_BUFFERS}     8.6  sm_100a,sm_110a
"""

STATIONARY = Form(
    name="tcgen05.ws",
    syntax="tcgen05.mma.ws{.sp}.cta_group.kind{.collector_usage}"
    "  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc, enable-input-d{, zero-column-mask-desc};",
    rows=_STATIONARY_ROWS,
    operands=_operands("zero_column_mask_desc", tensor=False),
    touches="tensor async",
    source=_SOURCE,
)

STATIONARY_TENSOR = Form(
    name="tcgen05.ws-tensor",
    syntax="tcgen05.mma.ws{.sp}.cta_group.kind{.collector_usage}"
    "  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc, enable-input-d{, zero-column-mask-desc};",
    rows=_STATIONARY_ROWS,
    operands=_operands("zero_column_mask_desc", tensor=True),
    touches="tensor async",
    source=_SOURCE,
)
