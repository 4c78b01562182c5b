"""Loads, stores, reductions and bulk copies at multimem addresses, which several devices share.

The emulator has one device. It executes these instructions on every global address, as if the address belonged to a
multicast object with the memory of this device alone.

Source: PTX ISA 9.7.9.14, 9.7.9.25.7, 9.7.9.25.8.
"""

from warploom.isa.instructions import bulk
from warploom.isa.instructions.atomic import each_element
from warploom.isa.instructions.bulk import BYTE_MASK, GLOBAL, SHARED, SIZE
from warploom.isa.model.effects import Access, Issue, slot_or
from warploom.isa.model.form import Form
from warploom.isa.model.operands import Slots, address, inp, out
from warploom.isa.model.semantics import Bound, Warps
from warploom.isa.model.types import TYPES

_SCOPES = "cta,cluster,gpu,sys"
EIGHTS = "sm_100f,sm_110f,sm_120a,sm_121a"
"""Targets that support 8-bit floating-point formats in multimem instructions."""


def _register_type(slots: Slots) -> str:
    """Return the register type: bits for 8-bit floating-point formats, else the type in the opcode."""
    word = slots["type"]
    return f"b{TYPES[word].bits}" if word.startswith(("e4m3", "e5m2")) else word


LD_REDUCE = Form(
    name="multimem.ld_reduce",
    syntax="multimem.ld_reduce{.sem}{.scope}{.ss}.op.type  d, [a];",
    rows="sem scope ss op type ptx target"
    + "".join(
        f"""
        {sem}  {scope}  -,global  min,max,add  u32,s32,u64  8.1 sm_90
        {sem}  {scope}  -,global  min,max      s64          8.1 sm_90
        {sem}  {scope}  -,global  and,or,xor   b32,b64      8.1 sm_90
        """
        for sem, scope in (("-,weak", "-"), ("relaxed,acquire", _SCOPES))
    ),
    operands={"d": out("type"), "a": address()},
    effects=(Access("read", "a", "d", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.14",
)
LD_REDUCE.describe(
    "Loads the integers at a multimem address from all devices and returns their combination. Use it for an"
    " all-reduce in the switch (NVLink SHARP).",
    "multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%rd0];",
)

LD_REDUCE_FLOAT = Form(
    name="multimem.ld_reduce_float",
    syntax="multimem.ld_reduce{.sem}{.scope}{.ss}.op{.acc}{.vec}.type  d, [a];",
    rows="sem scope ss op acc vec type ptx target"
    + "".join(
        f"""
        {sem}  {scope}  -,global  add          -         -         f64            8.1 sm_90
        {sem}  {scope}  -,global  add          -         -,v2,v4   f32            8.1 sm_90
        {sem}  {scope}  -,global  min,max,add  -         v2,v4,v8  f16,bf16       8.1 sm_90
        {sem}  {scope}  -,global  min,max,add  -         -,v2,v4   f16x2,bf16x2   8.1 sm_90
        {sem}  {scope}  -,global  add          acc::f32  v2,v4,v8  f16,bf16       8.2 sm_90
        {sem}  {scope}  -,global  add          acc::f32  -,v2,v4   f16x2,bf16x2   8.2 sm_90
        {sem}  {scope}  -,global  min,max,add  -         v4,v8     e4m3,e5m2      8.6 {EIGHTS}
        {sem}  {scope}  -,global  min,max,add  -         v2,v4,v8  e4m3x2,e5m2x2  8.6 {EIGHTS}
        {sem}  {scope}  -,global  min,max,add  -         -,v2,v4   e4m3x4,e5m2x4  8.6 {EIGHTS}
        {sem}  {scope}  -,global  add          acc::f16  v4,v8     e4m3,e5m2      8.6 {EIGHTS}
        {sem}  {scope}  -,global  add          acc::f16  v2,v4,v8  e4m3x2,e5m2x2  8.6 {EIGHTS}
        {sem}  {scope}  -,global  add          acc::f16  -,v2,v4   e4m3x4,e5m2x4  8.6 {EIGHTS}
        """
        for sem, scope in (("-,weak", "-"), ("relaxed,acquire", _SCOPES))
    ),
    operands={"d": out(_register_type, "vec", allows=("braces", "integers")), "a": address()},
    effects=(Access("read", "a", "d", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.14",
)
LD_REDUCE_FLOAT.describe(
    "Loads the floating-point numbers at a multimem address from all devices and returns their combination. Use"
    " it for an all-reduce in the switch (NVLink SHARP).",
    "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];",
)


@LD_REDUCE.execute
@LD_REDUCE_FLOAT.execute
def load(warps: Warps, i: Bound) -> None:
    """Load the values of the only device, which are the result of every reduction."""
    vec = getattr(i, "vec", "")
    found = warps.load("global", warps.addresses(i.a), _register_type(vars(i)), int(vec[1:] or 1))
    if vec:
        warps.write_vector(i.d, found)
    else:
        warps.write(i.d, found[0])


ST = Form(
    name="multimem.st",
    syntax="multimem.st{.sem}{.scope}{.ss}.type  [a], b;",
    rows=f"""
        sem              scope      ss        type                     ptx target
        -,weak           -          -,global  b32,b64,u32,u64,s32,s64  8.1 sm_90
        relaxed,release  {_SCOPES}  -,global  b32,b64,u32,u64,s32,s64  8.1 sm_90
    """,
    operands={"a": address(), "b": inp("type")},
    effects=(Access("write", "a", "b", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.14",
)
ST.describe(
    "Stores an integer to a multimem address on all devices. Use it to broadcast flags and data.",
    "multimem.st.release.sys.global.u32 [%rd0], %r0;",
)

ST_FLOAT = Form(
    name="multimem.st_float",
    syntax="multimem.st{.sem}{.scope}{.ss}{.vec}.type  [a], b;",
    rows="sem scope ss vec type ptx target"
    + "".join(
        f"""
        {sem}  {scope}  -,global  -         f64            8.1 sm_90
        {sem}  {scope}  -,global  -,v2,v4   f32            8.1 sm_90
        {sem}  {scope}  -,global  -,v2,v4   f16x2,bf16x2   8.1 sm_90
        {sem}  {scope}  -,global  v2,v4,v8  f16,bf16       8.1 sm_90
        {sem}  {scope}  -,global  v4,v8     e4m3,e5m2      8.6 {EIGHTS}
        {sem}  {scope}  -,global  v2,v4,v8  e4m3x2,e5m2x2  8.6 {EIGHTS}
        {sem}  {scope}  -,global  -,v2,v4   e4m3x4,e5m2x4  8.6 {EIGHTS}
        """
        for sem, scope in (("-,weak", "-"), ("relaxed,release", _SCOPES))
    ),
    operands={"a": address(), "b": inp(_register_type, "vec", allows=("braces", "integers"))},
    effects=(Access("write", "a", "b", order="sem", scope="scope"),),
    source="PTX ISA 9.7.9.14",
)
ST_FLOAT.describe(
    "Stores floating-point numbers to a multimem address on all devices. Use it to broadcast the results of an"
    " all-reduce.",
    "multimem.st.relaxed.sys.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};",
)


@ST.execute
@ST_FLOAT.execute
def store(warps: Warps, i: Bound) -> None:
    values = warps.read_vector(i.b) if getattr(i, "vec", "") else warps.read(i.b)[None]
    warps.store("global", warps.addresses(i.a), _register_type(vars(i)), values)


RED = Form(
    name="multimem.red",
    syntax="multimem.red{.sem}{.scope}{.ss}.op{.vec}.type  [a], b;",
    rows="sem scope ss op vec type ptx target"
    + "".join(
        f"""
        {sem}  {scope}  -,global  min,max,add  -         u32,s32,u64   8.1 sm_90
        {sem}  {scope}  -,global  min,max      -         s64           8.1 sm_90
        {sem}  {scope}  -,global  and,or,xor   -         b32,b64       8.1 sm_90
        {sem}  {scope}  -,global  add          -         f64           8.1 sm_90
        {sem}  {scope}  -,global  add          -,v2,v4   f32           8.1 sm_90
        {sem}  {scope}  -,global  add          v2,v4,v8  f16,bf16      8.1 sm_90
        {sem}  {scope}  -,global  add          -,v2,v4   f16x2,bf16x2  8.1 sm_90
        """
        for sem, scope in (("-", "-"), ("relaxed,release", _SCOPES))
    ),
    operands={"a": address(), "b": inp(_register_type, "vec", allows=("integers",))},
    effects=(Access("update", "a", "b", order=slot_or("sem", "relaxed"), scope=slot_or("scope", "sys")),),
    source="PTX ISA 9.7.9.14",
)
RED.describe(
    "Combines the values at a multimem address on all devices with b. Use it for barriers between devices and for"
    " all-reduces.",
    "multimem.red.release.sys.global.add.u32 [%rd0], %r0;",
)


@RED.execute
def red(warps: Warps, i: Bound) -> None:
    if i.vec:
        each_element(warps, i, "global")
    else:
        warps.atomic("global", warps.addresses(i.a), i.op, i.type, warps.read(i.b))


COPY = Form(
    name="multimem.copy",
    syntax="multimem.cp.async.bulk.dst.src.bulk_group{.cp_mask}  [dstMem], [srcMem], size{, byteMask};",
    rows="""
        dst     src          cp_mask  ptx target
        global  shared::cta  -        9.1 sm_90
        global  shared::cta  cp_mask  9.1 sm_100
    """,
    operands={"dstMem": GLOBAL, "srcMem": SHARED, "size": SIZE, "byteMask": BYTE_MASK},
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("write", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.7",
)
COPY.describe(
    "Starts a copy of contiguous bytes from shared memory to a multimem address, in a bulk group. Use it to"
    " broadcast tiles to all devices.",
    "multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 1024;",
)

COPY.copy(bulk.store)

REDUCE = Form(
    name="multimem.reduce",
    syntax="multimem.cp.reduce.async.bulk.dst.src.bulk_group.redOp{.noftz}.type  [dstMem], [srcMem], size;",
    rows="""
        dst     src          redOp       noftz  type                      ptx target
        global  shared::cta  and,or,xor  -      b32,b64                   9.1 sm_90
        global  shared::cta  add         -      u32,s32,u64,f32,f64       9.1 sm_90
        global  shared::cta  add         noftz  f16,bf16                  9.1 sm_90
        global  shared::cta  inc,dec     -      u32                       9.1 sm_90
        global  shared::cta  min,max     -      u32,s32,u64,s64,f16,bf16  9.1 sm_90
    """,
    operands={"dstMem": GLOBAL, "srcMem": SHARED, "size": SIZE},
    effects=(Issue("bulk"), Access("read", "srcMem", proxy="async"), Access("update", "dstMem", proxy="async")),
    source="PTX ISA 9.7.9.25.8",
)
REDUCE.describe(
    "Starts a combination of contiguous values at a multimem address with values in shared memory, in a bulk"
    " group. Use it to reduce tiles across devices.",
    "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd0], [%r0], 1024;",
)

REDUCE.copy(bulk.reduce)
