"""The instruction descriptor: the tables of section 9.7.16.4.2."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom.layout import InstructionDescriptor

FLOATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "f16": (("f16", "bf16"), ("f16", "f32"), ()),
    "tf32": (("tf32",), ("f32",), ()),
    "f8f6f4": (FLOATS, ("f16", "f32"), ()),
    "i8": (("u8", "s8"), ("s32",), ()),
    "mxf8f6f4": (FLOATS, ("f32",), ("ue8m0",)),
    "mxf4": (("e2m1",), ("f32",), ("ue8m0",)),
    "mxf4nvf4": (("e2m1",), ("f32",), ("ue4m3", "ue8m0")),
}


@st.composite
def descriptors(draw: st.DrawFn) -> InstructionDescriptor:
    kind = draw(st.sampled_from(sorted(KINDS)))
    factors, sums, scales = KINDS[kind]
    fields: dict[str, Any] = {"sparse": draw(st.booleans())}
    if scales:
        fields["scale_type"] = draw(st.sampled_from(scales))
        fields |= {name: draw(st.integers(0, 3)) for name in ("scale_a_id", "scale_b_id")}
    else:
        fields |= {"selector": draw(st.integers(0, 3)), "max_shift": draw(st.sampled_from([0, 8, 16, 32]))}
    flags = ("saturate",) if kind == "i8" else ("negate_a", "negate_b")
    fields |= {name: draw(st.booleans()) for name in flags}
    if kind.startswith("mxf4"):
        fields["k96"] = not fields["sparse"] and draw(st.booleans())
    else:
        fields |= {name: draw(st.sampled_from(["K", "MN"])) for name in ("a_major", "b_major")}
    return InstructionDescriptor(
        kind,
        16 * draw(st.integers(1, 16)),
        8 * draw(st.integers(1, 32)),
        draw(st.sampled_from(factors)),
        draw(st.sampled_from(factors)),
        draw(st.sampled_from(sums)),
        **fields,
    )


@given(descriptors())
def test_decode_undoes_encode(fields: InstructionDescriptor) -> None:
    assert InstructionDescriptor.decode(fields.encode(), fields.kind) == fields


@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**32 - 1))
def test_what_is_decoded_encodes_to_itself(kind: str, value: int) -> None:
    try:
        fields = InstructionDescriptor.decode(value, kind)
    except UsageError:
        return
    assert fields.encode() == value


def test_every_field_has_its_bits() -> None:
    def of(kind: str, element: str, dtype: str = "f32", **fields: Any) -> int:
        return InstructionDescriptor(kind, 128, 8, element, element, dtype, **fields).encode() - (8 << 24 | 1 << 17)

    f16 = of("f16", "f16", "f16")
    assert f16 == 0
    fields = {
        "selector": (3, 3),
        "sparse": (True, 1 << 2),
        "negate_a": (True, 1 << 13),
        "negate_b": (True, 1 << 14),
        "a_major": ("MN", 1 << 15),
        "b_major": ("MN", 1 << 16),
        "max_shift": (32, 3 << 30),
    }
    for name, (value, bits) in fields.items():
        assert of("f16", "f16", "f16", **{name: value}) == bits
    assert of("f16", "bf16") == 1 << 4 | 1 << 7 | 1 << 10
    assert of("tf32", "tf32") == 1 << 4 | 2 << 7 | 2 << 10
    assert of("i8", "s8", "s32", saturate=True) == 1 << 3 | 2 << 4 | 1 << 7 | 1 << 10
    codes = {element: of("f8f6f4", element, "f16") for element in FLOATS}
    assert codes == {element: code << 7 | code << 10 for element, code in zip(FLOATS, (0, 1, 3, 4, 5), strict=True)}
    assert of("mxf8f6f4", "e4m3", scale_a_id=3, scale_b_id=2) == 1 << 23 | 3 << 29 | 2 << 4
    assert of("mxf4", "e2m1", k96=True) == 1 << 23 | 1 << 31 | 1 << 7 | 1 << 10
    assert of("mxf4nvf4", "e2m1") == 1 << 7 | 1 << 10


def test_k() -> None:
    k = {kind: InstructionDescriptor(kind, 128, 8, *[KINDS[kind][0][0]] * 2, KINDS[kind][1][-1]).k for kind in KINDS}
    assert k == {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
    sparse = InstructionDescriptor("f16", 128, 8, "f16", "f16", sparse=True)
    assert (sparse.k, sparse.stored_k) == (32, 16)
    assert InstructionDescriptor("mxf4", 256, 16, "e2m1", "e2m1", k96=True).k == 96


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: InstructionDescriptor("f17", 64, 8, "f16", "f16"), "unknown kind 'f17' of a multiplication"),
        (lambda: InstructionDescriptor("f16", 0, 8, "f16", "f16"), "M is 0; expected a multiple of 16 from 16"),
        (lambda: InstructionDescriptor("f16", 64, 12, "f16", "f16"), "N is 12; expected a multiple of 8 from 8"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "tf32"), "type of B is 'tf32'; kind f16 has f16, bf16"),
        (lambda: InstructionDescriptor("i8", 64, 8, "s8", "s8"), "type of D is 'f32'; kind i8 has s32"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "f16", selector=4), "selector is 4; expected 0 to 3"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "f16", max_shift=9), "shift is 9; .* has 0, 8, 16, 32"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "f16", scale_a_id=1), "kind f16 has no id of scale A"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "f16", k96=True), "kind f16 has no K of 96"),
        (lambda: InstructionDescriptor("f16", 64, 8, "f16", "f16", saturate=True), "kind f16 has no saturation"),
        (lambda: InstructionDescriptor("i8", 64, 8, "s8", "s8", "s32", negate_a=True), "kind i8 has no negation of A"),
        (
            lambda: InstructionDescriptor("mxf4", 128, 8, "e2m1", "e2m1", sparse=True, k96=True),
            "a sparse multiplication has K = 96; expected K = 128",
        ),
        (
            lambda: InstructionDescriptor("mxf4", 128, 8, "e2m1", "e2m1", a_major="MN"),
            "major of A is 'MN'; kind mxf4 has K",
        ),
        (lambda: InstructionDescriptor.decode(-1, "f16"), "-1 is not an instruction descriptor"),
        (lambda: InstructionDescriptor.decode(0x40 | 1 << 23, "f16"), "bits 6, 23 are reserved in .* kind f16"),
        (
            lambda: InstructionDescriptor.decode(2 << 7 | 4 << 24 | 1 << 17, "f16"),
            r"type of A of the instruction descriptor is 2; kind f16 has 0 \(f16\), 1 \(bf16\)",
        ),
    ],
)
def test_refusals(made: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        made()
