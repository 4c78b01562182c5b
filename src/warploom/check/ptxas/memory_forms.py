"""Loads, stores, moves, atomics and tensor-memory multiplications that only ptxas accepts.

Source: answers of ptxas 12.9 to 13.5
"""

from warploom.check.ptxas.tolerated import ExtensionForm
from warploom.isa.instructions.tcgen05_mma import GROUPS, INTEGER, KEPT, SHIFTED, multiplication_operands
from warploom.isa.model.operands import address, bits_as_unsigned, inout, inp, out

_SMALL = "b8,b16,u8,u16,s8,s16"
_FIRST_LEVEL = "L1::evict_normal,L1::evict_unchanged,L1::evict_first,L1::evict_last,L1::no_allocate"
_AHEAD = "-,L2::64B,L2::128B,L2::256B"
_APART = "shared,shared::cta,shared::cluster"
_UNSHARED = "const,local,param,param::entry"

_ANY_LEVEL = f"-,{_FIRST_LEVEL}"
_SCOPED = "cta,cluster,gpu,sys"
_POLICY = "-,L2::cache_hint"
_HINT = inp("u64", when="level::cache_hint")

NARROW_EIGHT_LOADED = ExtensionForm("row", "row_eight_loaded", "9.7.9.8",
    "ld{.sem}{.scope}{.ss}{.nc}{.level1::eviction_priority}{.level::cache_hint}{.level::prefetch_size}"
    ".v8.type  d, [a]{, cache-policy};", f"""
    sem nc level1::eviction_priority level::cache_hint level::prefetch_size type scope ss ptx target
    -,weak           -   {_ANY_LEVEL}  {_POLICY}  {_AHEAD}  {_SMALL}  -          -,global     1.0  -
    -                nc  {_ANY_LEVEL}  {_POLICY}  {_AHEAD}  {_SMALL}  -          global       1.0  -
    volatile         -   -             -          {_AHEAD}  {_SMALL}  -          -,global     1.0  -
    relaxed,acquire  -   {_ANY_LEVEL}  {_POLICY}  {_AHEAD}  {_SMALL}  {_SCOPED}  -,global     6.0  sm_70
    relaxed,acquire  -   -             -          -         {_SMALL}  {_SCOPED}  {_APART}     6.0  sm_70
    -,weak,volatile  -   -             -          -         {_SMALL}  -          {_APART}     1.0  -
    -,weak           -   -             -          -         {_SMALL}  -          {_UNSHARED}  1.0  -
""", {"d": out("type", 8, accepts="wide"), "a": address(), "cache_policy": _HINT})  # fmt: skip

NARROW_EIGHT_STORED = ExtensionForm("row", "row_eight_stored", "9.7.9.11",
    "st{.sem}{.scope}{.ss}{.level1::eviction_priority}{.level::cache_hint}.v8.type  [a], b{, cache-policy};", f"""
    sem level1::eviction_priority level::cache_hint type scope ss ptx target
    -,weak           {_ANY_LEVEL}  {_POLICY}  {_SMALL}  -          -,global        1.0  -
    relaxed,release  {_ANY_LEVEL}  {_POLICY}  {_SMALL}  {_SCOPED}  -,global        6.0  sm_70
    relaxed,release  -             -          {_SMALL}  {_SCOPED}  {_APART}        6.0  sm_70
    volatile         -             -          {_SMALL}  -          -,global        1.0  -
    volatile         -             -          {_SMALL}  -          {_APART}        1.0  -
    -,weak           -             -          {_SMALL}  -          local,{_APART}  1.0  -
""", {"a": address(), "b": inp("type", 8, accepts="wide"), "cache_policy": _HINT})  # fmt: skip

_COMPLETION = "mbarrier::complete_tx::bytes"
_WORDS = "b32,u32,s32,f32"
_DOUBLES = "b64,u64,s64,f64"

_ALL_SHARED = f"-,{_APART}"
_FAR = "-,shared::cluster"
_UNFINISHED = f"""
        weak    scope    ss                  {_COMPLETION}  vec   type                 ptx  target
        -,weak  -        {_ALL_SHARED}       {_COMPLETION}  -,v2  {_WORDS},{_DOUBLES}  8.1  sm_90
        -,weak  -        {_ALL_SHARED}       {_COMPLETION}  v4    {_WORDS}             8.1  sm_90
        -       cluster  {_FAR}              {_COMPLETION}  -,v2  {_WORDS},{_DOUBLES}  8.1  sm_90
        -       cluster  {_FAR}              {_COMPLETION}  v4    {_WORDS}             8.1  sm_90
        -,weak  -        shared,shared::cta  -              -,v2  {_WORDS},{_DOUBLES}  8.1  sm_90
        -,weak  -        shared,shared::cta  -              v4    {_WORDS}             8.1  sm_90
"""

ASYNC_STORE = ExtensionForm("without", "without_async_store", "9.7.9.12",
    f"st.async{{.weak}}{{.scope}}{{.ss}}{{.{_COMPLETION}}}{{.vec}}.type  [a], b, [mbar];", _UNFINISHED,
    {"a": address(), "b": inp("type", "vec", allows=("braces", "integers")), "mbar": address()})  # fmt: skip

ASYNC_STORE_ONE = ExtensionForm("without", "without_async_store_one", "9.7.9.12",
    f"st.async{{.weak}}{{.scope}}{{.ss}}{{.{_COMPLETION}}}{{.vec}}.type  [a], b, [mbar];", _UNFINISHED,
    {"a": address(), "b": inp("type"), "mbar": address()})  # fmt: skip

ASYNC_STORE_MANY = ExtensionForm("without", "without_async_store_many", "9.7.9.12",
    f"st.async{{.weak}}{{.scope}}{{.ss}}{{.{_COMPLETION}}}.type  [a], b, [mbar];", f"""
    weak    scope    ss                  {_COMPLETION}  type                     ptx  target
    -,weak  -        {_ALL_SHARED}       {_COMPLETION}  u32,s32,f32,u64,s64,f64  8.1  sm_90
    -       cluster  {_FAR}              {_COMPLETION}  u32,s32,f32,u64,s64,f64  8.1  sm_90
    -,weak  -        shared,shared::cta  -              u32,s32,f32,u64,s64,f64  8.1  sm_90
""", {"a": address(), "b": inp("type", -1, allows=("integers",)), "mbar": address()})  # fmt: skip

ASYNC_STORE_ALONE = ExtensionForm("without", "without_async_store_alone", "9.7.9.12",
    f"st.async{{.weak}}{{.scope}}{{.ss}}{{.{_COMPLETION}}}.type  [a], b;", f"""
    weak    scope    ss                  {_COMPLETION}  type                 ptx  target
    -,weak  -        {_ALL_SHARED}       {_COMPLETION}  {_WORDS},{_DOUBLES}  8.1  sm_90
    -       cluster  {_FAR}              {_COMPLETION}  {_WORDS},{_DOUBLES}  8.1  sm_90
    -,weak  -        shared,shared::cta  -              {_WORDS},{_DOUBLES}  8.1  sm_90
""", {"a": address(), "b": inp("type")})  # fmt: skip

ASYNC_STORE_GLOBAL = ExtensionForm("without", "without_async_store_global", "9.7.9.12",
    "st.async{.weak}{.scope}{.ss}.type  [a], b;", f"""
    weak    scope      ss        type                                      ptx  target
    -,weak  -          -,global  {_SMALL},{_WORDS},{_DOUBLES}  8.7  sm_100
    -       gpu,sys    -,global  {_SMALL},{_WORDS},{_DOUBLES}  8.7  sm_100
""", {"a": address(), "b": inp("type")})  # fmt: skip

_REDUCTIONS = (("inc,dec", "u32"), ("min,max,add", "u32,s32"), ("add", "u64,s64"), ("and,or,xor", "b32"))

ASYNC_RED = ExtensionForm("without", "without_async_red", "9.7.13.7",
    f"red.async.relaxed.cluster{{.ss}}.{_COMPLETION}.op.type  [a], b;",
    "ss op type ptx target\n" + "\n".join(f"-,shared::cluster {op} {kind} 8.1 sm_90" for op, kind in _REDUCTIONS),
    {"a": address(), "b": inp("type")})  # fmt: skip

ASYNC_RED_GLOBAL = ExtensionForm("without", "without_async_red_global", "9.7.13.7",
    "red.async.relaxed.scope{.space}.op.type  [a], b;",
    "scope space op type ptx target\n"
    + "\n".join(f"gpu,sys -,global {op} {kind} 8.7 sm_100" for op, kind in _REDUCTIONS),
    {"a": address(), "b": inp(bits_as_unsigned)})  # fmt: skip

_ORDERS = "-,relaxed,acquire,release,acq_rel"

ATOM_THIRD = ExtensionForm("with", "with_atom_third", "9.7.13.5",
    "atom{.sem}{.scope}{.space}.op.type  d, [a], b, c;", f"""
    sem        scope        space             op               type  ptx  target
    {_ORDERS}  -,{_SCOPED}  -,global,{_APART}  and,or,xor,exch  b32   3.1  sm_32
    {_ORDERS}  -,{_SCOPED}  -,global,{_APART}  exch             b128  8.3  sm_90
""", {"d": out("type", allows=("sink",)), "a": address(), "b": inp("type"), "c": inout("type")})  # fmt: skip

VECTOR_MOVE = ExtensionForm("row", "row_vector_move", "9.7.9.3", "mov.vec.type  d, a;", """
    vec  type
    v2   b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64
    v4   b16,b32,u16,u32,s16,s32,f32
""", {"d": out("type", "vec", allows=("integers",)), "a": inp("type", "vec", allows=("integers",))})  # fmt: skip

_REASONS = {"lane": "lanes", "scale": "scale-input-d"}

_VARIANTS = (
    ("lane", "disable-lane, enable-input-d, scale-input-d", "-,sp", "kind::f16,kind::tf32", "sm_100f"),
    ("lane", "disable-lane, enable-input-d", "-,sp", "kind::i8", INTEGER),
    ("lane", "disable-lane, enable-input-d, any-scale", "-", "kind::i8", INTEGER),
    ("scale", "disable-output-lane, enable-input-d, any-scale", "-", "kind::i8", INTEGER),
    ("scale", "enable-input-d, any-scale", "-,sp", "kind::i8", INTEGER),
)

TENSOR_MEMORY_FORMS = tuple(
    ExtensionForm(
        _REASONS[what], f"{what}_{k}{a.strip('[]')[1:]}", "9.7.16.10.9.1",
        f"tcgen05.mma{{.sp}}.cta_group.kind{{.ashift}}{{.collector_usage}}"
        f"  [d-tmem], {a}, b-desc{{, [sp-meta-tmem]}}, idesc, {last};",
        f"""
            sp    cta_group  kind     ashift      collector_usage  ptx  target
            {sp}  {GROUPS}  {kinds}  -           {KEPT}          8.6  {targets}
        """
        + (f"{sp} {GROUPS} {kinds} ashift {SHIFTED} 8.6 {targets}" if a == "[a-tmem]" else ""),
        multiplication_operands(*last.replace("-", "_").split(", "), tensor=a == "[a-tmem]"),
    )
    for k, (what, last, sp, kinds, targets) in enumerate(_VARIANTS)
    for a in ("a-desc", "[a-tmem]")
)  # fmt: skip

MAPA_SIGNED = ExtensionForm("row", "row_mapa_signed", "9.7.9.23", "mapa{.space}.type  d, a, b;",
    "space type ptx target\n-,shared::cluster s32,s64 7.8 sm_90",
    {"d": out("type"), "a": inp("type", allows=("symbol",), space="shared"), "b": inp("u32")})  # fmt: skip

GETCTARANK_SIGNED = ExtensionForm("row", "row_getctarank_signed", "9.7.9.24", "getctarank{.space}.type  d, a;",
    "space type ptx target\n-,shared::cluster s32,s64 7.8 sm_90",
    {"d": out("u32"), "a": inp("type", allows=("symbol",), space="shared")})  # fmt: skip
