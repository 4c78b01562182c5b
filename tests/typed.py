"""Random edits of a text, of the kinds that people make while they type, and a text of one long body."""

from __future__ import annotations

import random
import re

_BITS = (
    "}", "{", ";", "(", ")", "[", "]", ",", "/*", "*/", "//", '"', "\n", " ", ".", ":", "::", "@", "@%p0 ", "%", "§",
    "😀",
    "add.s32 %r1, %r1, 1;\n", "mov.u32 %r1,", "wgmma.mma_async.sync", ".entry", ".visible .entry k(", ".func f;\n",
    ".global .b32 g;\n", ".reg .b32 %q<4>;\n", "$L__x:\n", "bra $L__x;\n", "0x", "1e", "%r99999", "foo", "ret",
    ".version 8.0\n", ".target sm_80\n", '.pragma "nounroll";\n', ".loc 1 2 3\n", "#line 1\n",
    ".section .debug_info {",
)  # fmt: skip

_PART = """
$L{n}:
	add.s32 %r{n}, %r1, {n}; // note {n}
	setp.ne.s32 %p1, %r{n}, 0x{n:x};
	@%p1 bra $L{n};
	.reg .f32 x{n}, y{n};
	.loc 1 {n} 3
	{{
		.reg .b32 %r<3>, t; /* in
		braces */
		mov.u32 %r1, %tid.x;
		{{ st.global.v2.b32 [%rd1], {{%r1, t}}; }}
		left{n}:
	}}
T{n}: .branchtargets $L1, $L{n};
	brx.idx %r1, T{n};
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f{n}}}, %rd1, %rd2, 1, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	add.f32 %f1, %f0, x{n};
	wgmma.wait_group.sync.aligned 0;
"""
_ERRORS = """
	mov.b32 %f2, %r{n}
	add.f32 %f2, %f1, undeclared{n};
"""


def one_body(parts: int, *, sound: bool = False) -> str:
    """A module whose kernel has a long body: blocks, labels, tables, declarations in the middle, and errors."""
    part = _PART if sound else _PART + _ERRORS
    return (
        ".version 8.6\n.target sm_90a\n.address_size 64\n\n.global .b32 mark;\n"
        ".visible .entry first(.param .u64 p, .param .u32 q)\n{\n\t.reg .b32 %r<40>;\n\t.reg .b64 %rd<3>;\n"
        "\t.reg .pred %p<2>;\n\t.reg .f32 %f<40>;\n\tld.param.u64 %rd1, [p];\n"
        f"{''.join(part.format(n=n) for n in range(1, parts + 1))}\tret;\n}}\n"
        ".func f() { ret; }\n.entry last()\n{\n\t.reg .b32 a;\n\tmov.u32 a, mark;\n\tcall f;\n\tret;\n}\n"
    )


def edit(text: str, random: random.Random) -> tuple[int, int, str]:
    """One edit: where it begins, where what it takes away ends, and what is there instead."""
    at = random.randrange(len(text) + 1)
    match random.randrange(8):
        case 0:
            return at, at + 1, ""
        case 1:
            return at, at + random.randrange(60), ""
        case 2:
            return at, at, random.choice(_BITS)
        case 3:
            return at, at, chr(random.randrange(32, 127))
        case 4:  # a word elsewhere
            words = re.findall(r"[\w$%.]+", text[at : at + 500]) or ["x"]
            return at, at, random.choice(words)
        case 5:  # a line is gone, or there twice
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at) + 1 or len(text)
            return (start, end, "") if random.random() < 0.5 else (end, end, text[start:end])
        case 6:  # a stretch is moved
            end = min(at + random.randrange(300), len(text))
            to = random.randrange(len(text) - (end - at) + 1)
            if to < at:
                return to, end, text[at:end] + text[to:at]
            return at, to + end - at, text[end : to + end - at] + text[at:end]
        case _:  # a sign in place of another
            return at, at + 1, random.choice(_BITS)


def edited(text: str, random: random.Random) -> str:
    """The text after one edit."""
    begin, end, new = edit(text, random)
    return text[:begin] + new + text[end:]


def mended(text: str, whole: str, random: random.Random) -> str:
    """The text with its middle as it was in the whole: people undo most of what they break."""
    at = random.randrange(min(len(text), len(whole)) + 1)
    behind = random.randrange(min(len(text), len(whole)) - at + 1)
    return text[:at] + whole[at : len(whole) - behind] + text[len(text) - behind :]
