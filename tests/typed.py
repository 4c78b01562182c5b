"""Random edits of a text, of the kinds that people make while they type."""

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


def edited(text: str, random: random.Random) -> str:
    """The text after one edit."""
    at = random.randrange(len(text) + 1)
    match random.randrange(8):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + text[at + random.randrange(60) :]
        case 2:
            return text[:at] + random.choice(_BITS) + text[at:]
        case 3:
            return text[:at] + chr(random.randrange(32, 127)) + text[at:]
        case 4:  # a word elsewhere
            words = re.findall(r"[\w$%.]+", text[at : at + 500]) or ["x"]
            return text[:at] + random.choice(words) + text[at:]
        case 5:  # a line is gone, or there twice
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at) + 1 or len(text)
            return text[:start] + text[end:] if random.random() < 0.5 else text[:end] + text[start:]
        case 6:  # a stretch is moved
            end = at + random.randrange(300)
            gone, left = text[at:end], text[:at] + text[end:]
            to = random.randrange(len(left) + 1)
            return left[:to] + gone + left[to:]
        case _:  # a sign in place of another
            return text[:at] + random.choice(_BITS) + text[at + 1 :]


def mended(text: str, whole: str, random: random.Random) -> str:
    """The text with its middle as it was in the whole: people undo most of what they break."""
    at = random.randrange(min(len(text), len(whole)) + 1)
    behind = random.randrange(min(len(text), len(whole)) - at + 1)
    return text[:at] + whole[at : len(whole) - behind] + text[len(text) - behind :]
