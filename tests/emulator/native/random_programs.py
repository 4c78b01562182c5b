"""Random programs of lane-wise instructions, memory accesses and branches, for both engines."""

from __future__ import annotations

from hypothesis import strategies as st

WORDS = 1024
"""Number of 32-bit words of the buffer that a program reads and writes."""
_REGISTERS = 6

_WORD = st.integers(0, _REGISTERS - 1).map(lambda n: f"%r{n}")
_FLOAT = st.integers(0, 3).map(lambda n: f"%f{n}")
_WIDE = st.integers(0, 3).map(lambda n: f"%rd{n + 4}")
_PREDICATE = st.integers(0, 3).map(lambda n: f"%p{n}")
_CONSTANT = st.sampled_from([0, 1, 2, 3, 7, 31, 32, 255, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]).map(str)
_INTEGERS = (
    "add.u32", "sub.s32", "mul.lo.s32", "mul.hi.u32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32", "shl.b32",
    "shr.u32", "shr.s32", "div.u32", "rem.s32", "add.sat.s32",
)  # fmt: skip
_FLOATS = ("add.rn.f32", "sub.ftz.f32", "mul.rz.f32", "div.rn.f32", "min.f32", "max.ftz.f32", "add.rm.f32")
_COMPARISONS = ("setp.lt.s32", "setp.ge.u32", "setp.eq.u32", "setp.ne.s32")
_CONVERSIONS = ("cvt.rn.f32.s32 {f}, {r};", "cvt.rzi.s32.f32 {r}, {f};", "mov.b32 {r}, {f};", "mov.b32 {f}, {r};")


def _joined(*parts: object) -> str:
    return ", ".join(map(str, parts))


_source = st.one_of(_WORD, _WORD, _CONSTANT)
_arithmetic = st.one_of(
    st.builds(lambda op, d, a, b: f"{op} {_joined(d, a, b)};", st.sampled_from(_INTEGERS), _WORD, _WORD, _source),
    st.builds(lambda d, a, b, c: f"mad.lo.s32 {_joined(d, a, b, c)};", _WORD, _WORD, _WORD, _source),
    st.builds(
        lambda d, a, b, c, n: f"lop3.b32 {_joined(d, a, b, c, n)};", _WORD, _WORD, _WORD, _WORD, st.integers(0, 255)
    ),
    st.builds(lambda op, d, a, b: f"{op} {_joined(d, a, b)};", st.sampled_from(_FLOATS), _FLOAT, _FLOAT, _FLOAT),
    st.builds(lambda d, a, b, c: f"fma.rn.f32 {_joined(d, a, b, c)};", _FLOAT, _FLOAT, _FLOAT, _FLOAT),
    st.builds(lambda text, r, f: text.format(r=r, f=f), st.sampled_from(_CONVERSIONS), _WORD, _FLOAT),
    st.builds(lambda d, a, b: f"mul.wide.u32 {_joined(d, a, b)};", _WIDE, _WORD, _WORD),
    st.builds(lambda d, a, b: f"add.u64 {_joined(d, a, b)};", _WIDE, _WIDE, _WIDE),
    st.builds(lambda d, a: f"cvt.u32.u64 {_joined(d, a)};", _WORD, _WIDE),
    st.builds(
        lambda op, p, a, b: f"{op} {_joined(p, a, b)};", st.sampled_from(_COMPARISONS), _PREDICATE, _WORD, _source
    ),
    st.builds(lambda d, a, b, p: f"selp.b32 {_joined(d, a, b, p)};", _WORD, _WORD, _source, _PREDICATE),
)
_address = _WORD.map(
    lambda r: f"and.b32 %r9, {r}, {WORDS - 4};\nmul.wide.u32 %rd3, %r9, 4;\nadd.u64 %rd3, %rd3, %rd0;\n"
)
_access = st.one_of(
    st.builds(lambda where, d: f"{where}ld.global.b32 {d}, [%rd3];", _address, _WORD),
    st.builds(lambda where, a: f"{where}st.global.b32 [%rd3+4], {a};", _address, _WORD),
    st.builds(
        lambda where, a, b: f"{where}ld.global.v4.b32 {{{_joined(a, '%r7', b, '%r8')}}}, [%rd3];",
        _address,
        _WORD,
        _WORD,
    ),
    st.builds(lambda a: f"st.shared.b32 [%r10], {a};", _WORD),
    st.builds(lambda d: f"ld.shared.b32 {d}, [%r10];", _WORD),
)
_UPDATES = (
    "atom.global.add.u32 {d}, [%rd3], {a};", "atom.min.s32 {d}, [%rd3], {a};", "atom.global.inc.u32 {d}, [%rd3], {a};",
    "atom.global.cas.b32 {d}, [%rd3], {a}, {b};", "atom.shared.exch.b32 {d}, [%r10], {a};",
    "atom.global.add.f32 %f1, [%rd3], %f0;", "atom.shared.add.f32 %f2, [%r10], %f1;", "red.add.f32 [%rd3], %f3;",
    "atom.global.add.noftz.f16x2 {d}, [%rd3], {a};", "red.global.xor.b32 [%rd3+4], {a};",
    "red.shared.max.u32 [%r10], {b};",
)  # fmt: skip
_update = st.builds(
    lambda where, text, d, a, b: where + text.format(d=d, a=a, b=b),
    _address,
    st.sampled_from(_UPDATES),
    _WORD,
    _WORD,
    _WORD,
)
_guard = st.one_of(st.just(""), st.just(""), _PREDICATE.map(lambda p: f"@{p} "), _PREDICATE.map(lambda p: f"@!{p} "))
_guarded = st.builds(lambda guard, text: guard + text, _guard, _arithmetic)
_simple = st.one_of(_guarded, _guarded, _guarded, _access, _update)


@st.composite
def _statements(draw: st.DrawFn, depth: int) -> list[str]:
    """Return statements with branches and loops that are nested `depth` times."""
    found: list[str] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["simple", "simple", "simple", "if", "loop"] if depth else ["simple"]))
        if kind == "simple":
            found.append(draw(_simple))
            continue
        label = f"L{draw(st.integers(0, 10**9))}_{len(found)}"
        body = draw(_statements(depth - 1))
        if kind == "if":
            found += [f"@{draw(_PREDICATE)} bra {label};", *body, f"{label}:"]
        else:
            counter, trips = f"%r{11 + depth}", draw(_WORD)
            found += [
                f"and.b32 {counter}, {trips}, 3;", f"{label}:", *body, f"sub.s32 {counter}, {counter}, 1;",
                f"setp.ge.s32 %p4, {counter}, 0;", f"@%p4 bra {label};",
            ]  # fmt: skip
    return found


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Return a kernel with the parameters `data` (a buffer of `WORDS` words) and `out` (8 words for each thread)."""
    parts = draw(st.lists(_statements(2), min_size=1, max_size=3))
    text = "\nbar.sync 0;\n".join("\n".join(part) for part in parts)
    if draw(st.integers(0, 15)) == 0:
        text += f"\n@{draw(_PREDICATE)} ld.global.b32 %r1, [%rd0+{4 * WORDS}];"  # out of bounds
    stores = "\n".join(f"st.global.b32 [%rd2+{4 * n}], {value};" for n, value in enumerate(_results()))
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 out) {{
.reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .pred %p<5>;
.shared .align 4 .b8 slots[1024];
ld.param.u64 %rd0, [data]; ld.param.u64 %rd1, [out];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;
mul.wide.u32 %rd2, %r3, 32; add.u64 %rd2, %rd2, %rd1;
mov.u32 %r10, slots; mad.lo.s32 %r10, %r0, 4, %r10;
mov.u32 %r4, %laneid; not.b32 %r5, %r3; cvt.rn.f32.u32 %f0, %r0; mov.f32 %f1, 0f3FC00000; neg.f32 %f2, %f0;
setp.lt.u32 %p0, %r4, 16; setp.eq.u32 %p1, %r4, 3; setp.gt.u32 %p2, %r3, 40; setp.ne.u32 %p3, %r1, 0;
{text}
{stores}
ret;
}}
"""


def _results() -> list[str]:
    return [*(f"%r{n}" for n in range(_REGISTERS)), "%f0", "%f1"]
