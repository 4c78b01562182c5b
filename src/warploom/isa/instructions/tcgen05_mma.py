"""Matrix multiplication in tensor memory: dense, sparse, block-scaled and weight-stationary.

A is in tensor memory or shared memory, B in shared memory, and D in tensor memory. The shape and the exact types are in
the instruction descriptor, which is a value at run time.

Source: PTX ISA 9.7.16.10.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.isa.instructions.lanes import spread
from warploom.isa.model.effects import Access, Issue, Multiply
from warploom.isa.model.form import Form
from warploom.isa.model.operand_layout import LayoutInputs, OperandLayout
from warploom.isa.model.operands import OperandSpec, Slots, immediate, inp, pred_in, tensor_address
from warploom.isa.model.semantics import Bound, Warps
from warploom.isa.model.tensor_memory import TensorMultiply, factors_of
from warploom.layout import InstructionDescriptor, SharedMap, TensorMemoryMap, UmmaDescriptor
from warploom.layout.tensor_memory import accumulator, data_path, multiplicand, scales, sparsity

GROUPS = "cta_group::1,cta_group::2"
_FAMILY = "sm_100f,sm_110f"
_EXACT = "sm_100a,sm_103a,sm_107a,sm_110a"
INTEGER = "sm_100a,sm_110a"
KEPT = "-,collector::a::fill,collector::a::use,collector::a::lastuse,collector::a::discard"
SHIFTED = "-,collector::a::lastuse,collector::a::discard"
_SCALE_ADDRESS = np.uint32(0x3FFF_FFFF)
"""Bits of an operand with the address of scale factors that are the address.

CUTLASS writes the ID of the first scale factor to the other two bits.
"""
_BUFFERS = ",".join(f"collector::b{n}::{use}" for n in range(4) for use in ("fill", "use", "lastuse", "discard"))
SOURCE = "PTX ISA 9.7.16.10.9"


def _scales(slots: Slots) -> range:
    """Return the legal values of scale-input-d: D is divided by 2 to the power of it before the addition."""
    return range(16 if slots["kind"] in ("kind::f16", "kind::tf32") else 0)


def _fields(slots: Slots, given: LayoutInputs) -> InstructionDescriptor:
    """Return the decoded instruction descriptor in `given`.

    Errors: UsageError if the descriptor is missing, or contradicts the modifiers of the instruction.
    """
    kind = slots["kind"].removeprefix("kind::")
    found = given.idesc
    if found is None:
        raise UsageError(
            "the shape and the types of a multiplication in tensor memory are in its instruction descriptor;"
            " expected an instruction descriptor, as idesc= or --idesc",
            hint='wl.InstructionDescriptor("f16", 128, 64, "f16", "f16").encode() returns one',
        )
    if isinstance(found, int):
        found = InstructionDescriptor.decode(found, kind)
    if found.kind != kind:
        raise UsageError(f"the instruction descriptor is of kind {found.kind}; expected kind {kind}")
    if found.sparse != bool(slots["sp"]):
        words = ("dense", "sparse")
        raise UsageError(
            f"A is {words[found.sparse]} in the instruction descriptor, and {words[not found.sparse]} in the opcode;"
            " expected the same"
        )
    return found


def _ctas(slots: Slots) -> int:
    return int(slots["cta_group"][-1])


def _in_tensor(
    operand: str, formula: Callable[..., TensorMemoryMap], spec: OperandSpec, *, stationary: bool
) -> OperandSpec:

    def layout_map(slots: Slots, given: LayoutInputs) -> TensorMemoryMap:
        return formula(_fields(slots, given), _ctas(slots), stationary=stationary)

    return replace(spec, layout=OperandLayout(operand, layout_map, ("idesc",)))


def _behind_descriptor(operand: str, *, stationary: bool) -> OperandSpec:
    """Return the specification of the operand with the shared-memory descriptor of A or B."""

    def tile_map(slots: Slots, given: LayoutInputs) -> SharedMap:
        fields, ctas = _fields(slots, given), _ctas(slots)
        data_path(fields, ctas, stationary=stationary)  # raises UsageError for an illegal shape
        if operand == "A":  # each CTA of a pair has half of A and of B
            rows, k, element, major = fields.m // ctas, fields.stored_k, fields.atype, fields.a_major
        else:
            rows, k, element, major = fields.n // ctas, fields.k, fields.btype, fields.b_major
        descriptor = given.descriptor_of_umma() or UmmaDescriptor.packed(
            rows, k, element, swizzle=given.swizzle, major=major
        )
        tile = descriptor.tile(rows, k, element, major, padded=not fields.is_packed_4bit)
        shape = f"m{fields.m}n{fields.n}k{fields.k}"
        name = f"tcgen05{' sparse' if fields.sparse else ''} {shape} {element} {operand}"
        return replace(tile, name=f"{name}{' of each CTA of a pair' if ctas == 2 else ''}")

    return replace(inp("u64"), layout=OperandLayout(operand, tile_map, ("idesc", "descriptor", "swizzle")))


def _scale(operand: str) -> OperandSpec:

    def layout_map(slots: Slots, given: LayoutInputs) -> TensorMemoryMap:
        fields = _fields(slots, given)
        return scales(fields, operand, factors_of(slots["scale_vectorsize"], fields), _ctas(slots))

    return replace(tensor_address("bits"), layout=OperandLayout(f"scale {operand}", layout_map, ("idesc",)))


def multiplication_operands(*more: str, tensor: bool) -> dict[str, OperandSpec]:
    """Return the operands of a Form: those that all multiplications have, and those named in `more`.

    `tensor` is True if A is in tensor memory.
    """
    taddr, stationary = tensor_address("bits"), "zero_column_mask_desc" in more
    in_tensor = {"a_tmem": _in_tensor("A", multiplicand, taddr, stationary=stationary)}
    common = {
        "d_tmem": _in_tensor("D", accumulator, taddr, stationary=stationary),
        **(in_tensor if tensor else {"a_desc": _behind_descriptor("A", stationary=stationary)}),
        "b_desc": _behind_descriptor("B", stationary=stationary),
        "sp_meta_tmem": _in_tensor("metadata", sparsity, tensor_address("bits", when="sp"), stationary=stationary),
        "idesc": inp("u32"),
    }
    others = {
        "enable_input_d": pred_in(),
        "disable_output_lane": inp(
            "b32", lambda slots: 4 * _ctas(slots)
        ),  # one for 32 of the 128 lanes of D in each CTA
        "scale_input_d": immediate(values=_scales, bits=32, target="sm_100f"),
        "scale_A_tmem": _scale("A"),
        "scale_B_tmem": _scale("B"),
        "zero_column_mask_desc": inp("u64"),
        "disable_lane": pred_in(values=()),
        "any_scale": immediate(),
    }
    return common | {name: others[name] for name in more}


_PLAIN = ("disable_output_lane", "enable_input_d", "scale_input_d")
_WEIGHTS = ("enable_input_d", "zero_column_mask_desc")
_BLOCK = ("scale_A_tmem", "scale_B_tmem", "enable_input_d")

MMA = Form(
    name="tcgen05.mma",
    syntax="tcgen05.mma{.sp}.cta_group.kind{.collector_usage}  [d-tmem], a-desc, b-desc{, [sp-meta-tmem]}, idesc"
    "{, disable-output-lane}, enable-input-d{, scale-input-d};",
    rows=f"""
        sp     cta_group  kind                             collector_usage  ptx  target
        -,sp   {GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  {KEPT}        8.6  {_FAMILY}
        -,sp   {GROUPS}  kind::i8                         {KEPT}          8.6  {INTEGER}
    """,
    operands=multiplication_operands(*_PLAIN, tensor=False),
    effects=(Issue(), Multiply("tensor memory", keeps="enable_input_d"), Access("update", "d_tmem", proxy="async")),
    source=SOURCE,
)
MMA.describe(
    "Starts `D = A*B` or `D = A*B + D` with A and B in shared memory and D in tensor memory; one thread issues"
    " the multiplication. Use it for the main loop of GEMM and attention on sm_100.",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;",
)

MMA_TENSOR = Form(
    name="tcgen05.mma-tensor",
    syntax="tcgen05.mma{.sp}.cta_group.kind{.ashift}{.collector_usage}"
    "  [d-tmem], [a-tmem], b-desc{, [sp-meta-tmem]}, idesc"
    "{, disable-output-lane}, enable-input-d{, scale-input-d};",
    rows=f"""
        sp    cta_group  kind                               ashift  collector_usage  ptx  target
        -,sp  {GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  -       {KEPT}          8.6  {_FAMILY}
        -,sp  {GROUPS}  kind::f16,kind::tf32,kind::f8f6f4  ashift  {SHIFTED}       8.6  {_FAMILY}
        -,sp  {GROUPS}  kind::i8                           -       {KEPT}          8.6  {INTEGER}
        -,sp  {GROUPS}  kind::i8                           ashift  {SHIFTED}       8.6  {INTEGER}
    """,
    operands=multiplication_operands(*_PLAIN, tensor=True),
    spellings=("tcgen05.mma{.sp}.cta_group.kind{.collector_usage}{.ashift}",),
    effects=(Issue(), Multiply("tensor memory", keeps="enable_input_d"), Access("update", "d_tmem", proxy="async")),
    source=SOURCE,
)
MMA_TENSOR.describe(
    "Starts `D = A*B` or `D = A*B + D` with A and D in tensor memory and B in shared memory. Use it if A was"
    " computed, such as the probabilities of attention.",
    "tcgen05.mma.cta_group::1.kind::f16 [%r0], [%r1], %rd1, %r2, %p0;",
)

_BLOCK_ROWS = f"""
    sp    cta_group  kind            scale_vectorsize             collector_usage  ptx  target
    -,sp  {GROUPS}  kind::mxf8f6f4  -                            {KEPT}          8.6  {_FAMILY}
    -,sp  {GROUPS}  kind::mxf8f6f4  scale_vec::1X                {KEPT}          8.6  {_EXACT}
    -,sp  {GROUPS}  kind::mxf8f6f4  block32                      {KEPT}          8.8  {_FAMILY}
    -     {GROUPS}  kind::mxf4      -                            {KEPT}          8.6  {_FAMILY}
    sp    {GROUPS}  kind::mxf4      -                            {KEPT}          8.6  {_EXACT}
    -,sp  {GROUPS}  kind::mxf4      scale_vec::2X                {KEPT}          8.6  {_EXACT}
    -     {GROUPS}  kind::mxf4      block32                      {KEPT}          8.8  {_FAMILY}
    sp    {GROUPS}  kind::mxf4      block32                      {KEPT}          8.8  {_EXACT}
    -,sp  {GROUPS}  kind::mxf4nvf4  scale_vec::2X,scale_vec::4X  {KEPT}          8.7  {_EXACT}
    -     {GROUPS}  kind::mxf4nvf4  block16,block32              {KEPT}          8.8  {_FAMILY}
    sp    {GROUPS}  kind::mxf4nvf4  block16,block32              {KEPT}          8.8  {_EXACT}
"""

_SOURCES_OF_A = (("", "a-desc"), ("-tensor", "[a-tmem]"))
"""Suffixes of form names with the operand A: a descriptor, or an address in tensor memory."""

BLOCK, BLOCK_TENSOR = (
    Form(
        name=f"tcgen05.block{suffix}",
        syntax="tcgen05.mma{.sp}.cta_group.kind.block_scale{.scale_vectorsize}{.collector_usage}"
        f"  [d-tmem], {a}, b-desc{{, [sp-meta-tmem]}}, idesc, [scale-A-tmem], [scale-B-tmem], enable-input-d;",
        rows=_BLOCK_ROWS,
        operands=multiplication_operands(*_BLOCK, tensor=suffix == "-tensor"),
        effects=(Issue(), Multiply("tensor memory", keeps="enable_input_d"), Access("update", "d_tmem", proxy="async")),
        source=SOURCE,
    )
    for suffix, a in _SOURCES_OF_A
)
BLOCK.describe(
    "Starts a multiplication with scale factors of blocks along K, which tensor memory holds. Use it for mxfp8,"
    " mxfp4 and nvfp4 data on sm_100.",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r0], %rd0, %rd1, %r1, [%r2], [%r3], %p0;",
)
BLOCK_TENSOR.describe(
    "Starts a multiplication with scale factors of blocks along K and A in tensor memory. Use it for block-scaled"
    " data if A was computed.",
    "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r0], [%r1], %rd1, %r2, [%r3], [%r4], %p0;",
)

_STATIONARY_ROWS = f"""
    sp    cta_group     kind                               collector_usage  ptx  target
    -,sp  cta_group::1  kind::f16,kind::tf32,kind::f8f6f4  -,{_BUFFERS}     8.6  {_FAMILY}
    -,sp  cta_group::1  kind::i8                           -,{_BUFFERS}     8.6  {INTEGER}
"""

STATIONARY, STATIONARY_TENSOR = (
    Form(
        name=f"tcgen05.ws{suffix}",
        syntax="tcgen05.mma.ws{.sp}.cta_group.kind{.collector_usage}"
        f"  [d-tmem], {a}, b-desc{{, [sp-meta-tmem]}}, idesc, enable-input-d{{, zero-column-mask-desc}};",
        rows=_STATIONARY_ROWS,
        operands=multiplication_operands(*_WEIGHTS, tensor=suffix == "-tensor"),
        effects=(Issue(), Multiply("tensor memory", keeps="enable_input_d"), Access("update", "d_tmem", proxy="async")),
        source=SOURCE,
    )
    for suffix, a in _SOURCES_OF_A
)
STATIONARY.describe(
    "Starts a multiplication that keeps B in the tensor core for several instructions (weight stationary), with"
    " 32, 64 or 128 rows. Use it if many small A share one B.",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;",
)
STATIONARY_TENSOR.describe(
    "Starts a weight-stationary multiplication with A in tensor memory. Use it if many small computed A share one B.",
    "tcgen05.mma.ws.cta_group::1.kind::f16 [%r0], [%r1], %rd1, %r2, %p0;",
)


@MMA.tensor_operation
@MMA_TENSOR.tensor_operation
@BLOCK.tensor_operation
@BLOCK_TENSOR.tensor_operation
@STATIONARY.tensor_operation
@STATIONARY_TENSOR.tensor_operation
def multiply(warps: Warps, i: Bound) -> TensorMultiply:
    """Start D = A B, or D = A B + D / 2**scale_input_d if enable_input_d is true."""
    slots = vars(i)

    def address(name: str) -> Any:
        operand = slots.get(name)
        return None if operand is None else spread(warps, warps.addresses(operand)).astype(np.uint32)

    def word(name: str) -> Any:
        operand = slots.get(name)
        return None if operand is None else spread(warps, warps.read(operand))

    def words(name: str) -> Any:
        operand = slots.get(name)
        return None if operand is None else np.array(warps.read_vector(operand))

    in_tensor, scaled = "a_tmem" in slots, "scale_A_tmem" in slots
    buffer, _, use = i.collector_usage.removeprefix("collector::").partition("::")
    stationary = "zero_column_mask_desc" in slots
    default = "b0" if stationary else "a"
    return TensorMultiply(
        i.kind.removeprefix("kind::"), _ctas(slots), address("d_tmem"), word("idesc"),
        address("a_tmem") if in_tensor else word("a_desc"), word("b_desc"), word("enable_input_d"),
        a_in_tensor=in_tensor, sparse=i.sp == "sp", stationary=stationary, metadata=address("sp_meta_tmem"),
        scales=(address("scale_A_tmem") & _SCALE_ADDRESS, address("scale_B_tmem") & _SCALE_ADDRESS) if scaled else None,
        block=slots.get("scale_vectorsize", ""), scale_input_d=slots.get("scale_input_d") or 0,
        disabled=words("disable_output_lane"), zero_columns=word("zero_column_mask_desc"),
        collector=(buffer or default, use or "discard"), shifts_a=slots.get("ashift") == "ashift",
    )  # fmt: skip
