"""Pictures of the pages on concepts: swizzles, matrix descriptors and proxies.

The positions of chunks and of bits are results of `warploom.layout`.
"""

from collections.abc import Iterator, Sequence

from warploom.layout import Descriptor, UmmaDescriptor, swizzle
from warploom.view.svg import svg_document, svg_text

FOLDER = "docs/images"
_WIDTH = 860
_STYLE = """\
  .title { font-size: 14px; font-weight: 600; }
  .box { fill: #eaeef2; stroke: #57606a; }
  .marked { fill: #ffdfb8; stroke: #57606a; }
  .line { stroke: #57606a; stroke-width: 1.5; fill: none; }
"""
_DARK_STYLE = """\
  .box { fill: #262c33; stroke: #9198a1; }
  .marked { fill: #6b4210; stroke: #9198a1; }
  .line { stroke: #9198a1; }
"""


def texts() -> dict[str, str]:
    """Return the pictures as SVG, by their path in the repository."""
    return {
        f"{FOLDER}/swizzles.svg": _swizzle_picture(),
        f"{FOLDER}/descriptors.svg": _descriptor_picture(),
        f"{FOLDER}/proxies.svg": _proxy_picture(),
    }


def _document(height: int, title: str, description: str, body: Sequence[str]) -> str:
    return svg_document((_WIDTH, height), title, description, _STYLE, _DARK_STYLE, body)


def _box(x: float, y: float, width: float, height: float, css_class: str, *lines: object) -> Iterator[str]:
    """Yield a rectangle with centred lines of text. Units: pixels."""
    yield f'<rect class="{css_class}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
    for number, line in enumerate(lines):
        middle = y + height / 2 + 4 + 14 * (number - (len(lines) - 1) / 2)
        yield svg_text(x + width / 2, middle, line, "small" if number else "", "middle")


# Swizzles -----------------------------------------------------------------------------------------------------

_CELL, _LINE = 48, 22


def _swizzle_picture() -> str:
    body, panel = list[str](), 8 * _CELL + 40
    for number, span in enumerate((0, 32, 64, 128)):
        x, y = 12 + number % 2 * panel, number // 2 * (8 * _LINE + 58)
        body.append(
            svg_text(x, y + 22, f"Swizzle of {span} bytes" if span else "No swizzle, rows of 128 bytes", "title")
        )
        body += [svg_text(x + (k + 0.5) * _CELL, y + 38, f"{4 * k}-{4 * k + 3}", "small", "middle") for k in range(8)]
        for place in range(64):
            row, byte = divmod(int(swizzle(16 * place, span)), span or 128)
            is_marked = byte == 0 and row < 8
            at = x + place % 8 * _CELL, y + 44 + place // 8 * _LINE
            body += _box(*at, _CELL, _LINE, "marked" if is_marked else "box", f"{row}.{byte // 16}")
    height = 2 * (8 * _LINE + 58) + 4
    body.append(
        svg_text(
            12,
            height + 8,
            "3.1 is chunk 1 of row 3. Numbers above the columns are banks. Chunk 0 of rows 0-7 is marked.",
        )
    )
    description = (
        "Positions of 16-byte chunks in eight lines of 128 bytes, for each swizzle, with chunk 0 of eight rows marked."
    )
    return _document(height + 20, "Swizzles of shared memory", description, body)


# Descriptors --------------------------------------------------------------------------------------------------

_LARGEST = 0x3FFF0


def _descriptor_picture() -> str:
    body, bit = list[str](), 13
    zero, zero_umma = Descriptor(0, 0, 0).encode(), UmmaDescriptor(0, 0, 0).encode()
    common = {
        "start address / 16": Descriptor(_LARGEST, 0, 0).encode(),
        "leading offset / 16": Descriptor(0, _LARGEST, 0).encode(),
        "stride offset / 16": Descriptor(0, 0, _LARGEST).encode(),
        "base": Descriptor(0, 0, 0, 7).encode(),
    }  # fmt: skip
    swizzles = [
        UmmaDescriptor(0, 0, 0, swizzle=span, atom=atom) for span, atom in ((32, 16), (64, 16), (128, 16), (128, 32))
    ]
    absolute = UmmaDescriptor(0, 0, 0, swizzle=128, absolute=True).encode() ^ swizzles[2].encode()
    of_umma = 0
    for each in swizzles:
        of_umma |= each.encode() ^ zero_umma
    of_wgmma = Descriptor(0, 0, 0, swizzle=32).encode() ^ zero
    rows = {
        "wgmma": common | {"swz": of_wgmma},
        "tcgen05": common | {"001": 0b111 << 46, "a": absolute, "swz": of_umma},
    }
    for number, (name, fields) in enumerate(rows.items()):
        y = 12 + 86 * number
        body.append(svg_text(14, y + 14, name, "title"))
        body += _box(14, y + 36, 64 * bit, 30, "box")
        for text, bits in fields.items():
            low, high = (bits & -bits).bit_length() - 1, bits.bit_length() - 1
            x, width = 14 + (63 - high) * bit, (high - low + 1) * bit
            body += _box(x, y + 36, width, 30, "marked", text)
            body.append(svg_text(x + width / 2, y + 32, f"{high}-{low}" if high > low else high, "small", "middle"))
    description = "Bit fields of the 64-bit matrix descriptors of wgmma and tcgen05."
    return _document(12 + 86 * len(rows), "Matrix descriptors", description, body)


# Proxies ------------------------------------------------------------------------------------------------------


def _proxy_picture() -> str:
    users = (
        ("Threads", "ld, st, atom, ldmatrix", "generic proxy"),
        ("Bulk copies, multiplications", "cp.async.bulk, wgmma, tcgen05.mma", "async proxy"),
        ("Tensor copies, for the tensor map", "cp.async.bulk.tensor", "tensormap proxy"),
    )
    body = list[str]()
    for number, (user, examples, proxy) in enumerate(users):
        y = 14 + 58 * number
        body += _box(14, y, 270, 44, "box", user, examples)
        body += _box(364, y, 150, 44, "marked", proxy)
        body += [f'<path class="line" d="M{x} {y + 22}h80"/>' for x in (284, 514)]
    body += _box(594, 14, 250, 160, "box", "shared and global memory")
    steps = ("st.shared", "fence.proxy.async", "bar.sync", "cp.async.bulk")
    reasons = ("generic proxy", "orders the proxies", "orders the threads", "async proxy")
    body.append(svg_text(14, 206, "A bulk copy reads what threads stored", "title"))
    for number, step in enumerate(zip(steps, reasons, strict=True)):
        x = 14 + 212 * number
        body += _box(x, 218, 182, 44, "marked" if number == 1 else "box", *step)
        if number:
            body.append(f'<path class="line" d="M{x - 30} 240h30"/>')
    description = "Three paths to memory, and the four steps by which a bulk copy reads what threads stored."
    return _document(276, "Proxies", description, body)
