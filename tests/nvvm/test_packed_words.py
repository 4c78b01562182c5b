"""Packed words: round trips of encoding and decoding, and errors that name the field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.cli import main
from warploom.diagnostics import UsageError
from warploom.layout import Descriptor
from warploom.nvvm.explain import descriptor_rows, number_page
from warploom.nvvm.packed import WORDS
from warploom.nvvm.packed.fields import Field, PackedWord, WordError
from warploom.nvvm.packed.matrix import MMA, MOVE, SHAPES, TYPES
from warploom.nvvm.packed.tcgen05 import MODIFIERS

SMALL = [word for word in WORDS.values() if word is not MMA]


@pytest.mark.parametrize("word", SMALL, ids=lambda word: word.name)
def test_valid_words_round_trip(word):
    valid = list(word.all_words())
    assert all(word.encode(**word.decode(value)) == value for value in valid)
    assert len(set(valid)) == len(valid)


@pytest.mark.parametrize("word", [w for w in SMALL if w.width <= 11], ids=lambda word: word.name)
def test_every_number_is_a_valid_word_or_an_error(word):
    valid = set(word.all_words())
    for value in range(1 << word.width):
        assert (word.error(value) == "") == (value in valid)


@given(st.data())
def test_word_of_a_multiplication_round_trips(data):
    values = {field.name: data.draw(st.sampled_from(field.numbers())) for field in MMA.fields}
    number = sum(values[field.name] << field.low for field in MMA.fields)
    if MMA.error(number):
        with pytest.raises(UsageError):
            MMA.encode(**values)
    else:
        assert MMA.encode(**values) == number
        assert MMA.encode(**MMA.decode(number)) == number


@given(st.integers(0, 2**64 - 1))
def test_any_number_is_a_word_or_an_error(value):
    for word in WORDS.values():
        if said := word.error(value):
            assert said.startswith(word.title)
        else:
            assert word.encode(**word.decode(value)) == value


@given(st.integers(0, 2**64 - 1))
def test_every_bit_of_a_descriptor_is_shown(value):
    shown = 0
    for line in descriptor_rows(value):
        low = int(line.span.split("-")[-1]) if line.span else 0
        shown |= line.number << low
    assert shown == value
    assert Descriptor.decode(value).encode() == value & 0xC00E_3FFF_3FFF_3FFF


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"aty": 12, "bty": 6, "shape": 1}, "Wrong MMA element type: its aty is 12"),
        ({"aty": "f16", "bty": "f8", "shape": 1}, "Wrong MMA element type: its bty is 'f8'"),
        ({"aty": 6, "bty": 6, "shape": 0x1A}, "its shape is 26"),
        ({"aty": 6, "bty": 6, "shape": 1, "opc": 3}, "its opc is 3"),
        ({"aty": 6, "bty": 6, "shape": 1, "opc": 1}, "its opc is and.popc, which is for b1"),
        ({"aty": 6, "bty": 6, "shape": 1, "rnd": "rn"}, "its rnd is rn, which is for f64"),
        ({"aty": 9, "bty": 9, "shape": 1, "rnd": 5}, "its rnd is 5"),
        ({"aty": 6, "bty": 6, "shape": 1, "al": 3}, "its al is 3"),
        ({"aty": 8, "bty": 8, "shape": 0x19, "satf": 1}, "its satf is 1, which is for f16 and integers"),
        ({"aty": 6, "bty": 6, "shape": 1, "stride": 1}, "unknown field 'stride'"),
    ],
)
def test_error_in_a_multiplication_names_its_field(fields, said):
    with pytest.raises(UsageError, match="descriptor word of a multiplication") as caught:
        MMA.encode(**fields)
    assert said in str(caught.value)
    assert caught.value.diagnostics[0].code == "word.mma"


def test_bits_of_no_field_are_errors():
    with pytest.raises(UsageError, match="bits 40, 3 belong to no field and must be 0"):
        MMA.decode(1 << 40 | 1 << 3 | MMA.encode(aty="f16", bty="f16", shape="m16n16k16"))
    with pytest.raises(UsageError, match="does not fit 5 bits"):
        WORDS["config"].decode(32)


def test_rowcol_and_rounding_share_bits_in_different_words():
    # The text's one table has rowcol at 0, mid at 2-1 and rnd at 2-0: a word has the former or the latter.
    multiplication = MMA.encode(rnd="rm", aty="f64", bty="f64", al="row", bl="col", shape="m8n8k4")
    load = MOVE.encode(rowcol="row", mid="b", type="f64", shape="m8n8k4")
    assert multiplication & 7 == load & 7 == 2


TCGEN05_REFUSED = [
    ({"ws": 1, "cta_group": "cta_group::2", "kind": "f16"}, "cta_group::2 is not supported with weight stationary"),
    ({"ws": 1, "kind": "mxf8f6f4"}, "Cannot use weight stationary with mxf8f6f4 and fp4 types"),
    ({"ws": 1, "kind": "mxf4"}, "Cannot use weight stationary with mxf8f6f4 and fp4 types"),
    ({"kind": "mxf4", "scale_vec": "scale_vec::1X"}, "Cannot use 1X or 4X as scale vector size for mxf4 type"),
    ({"kind": "mxf8f6f4", "scale_vec": 3}, "Cannot use 2X or 4X as scale vector size for mxf8f6f4 type"),
    ({"kind": "mxf4nvf4", "scale_vec": 1}, "Cannot use 1X as scale vector size for mxf4nvf4 type"),
    ({"kind": "tf32", "scale_vec": 2}, "Block scale is not supported for f16, tf32, f8f6f4 and i8 types"),
    ({"kind": "i8", "scale_input_d": 1}, "Scale input accumulator can only be used with f16 and tf32 types"),
    ({"kind": 6}, "its kind is 6"),
]


@pytest.mark.parametrize(("fields", "said"), TCGEN05_REFUSED)
def test_illegal_combinations_of_modifiers(fields, said):
    with pytest.raises(UsageError) as caught:
        MODIFIERS.encode(**fields)
    assert said in str(caught.value)


def test_names_of_types_and_shapes():
    assert list(TYPES) == list(range(1, 12))
    assert all(SHAPES[number].startswith(("m8", "m16", "m32")) for number in SHAPES)


def test_overlapping_fields_are_errors():
    with pytest.raises(WordError, match="field b overlaps another field or exceeds the word, in bits 3-2"):
        PackedWord("w", "a word", 8, (Field("a", 0, 3), Field("b", 2, 2)))
    with pytest.raises(WordError, match="field a overlaps another field or exceeds the word, in bits 9-8"):
        PackedWord("w", "a word", 9, (Field("a", 8, 2),))


def test_explain_shows_every_possible_word(capsys):
    word = MMA.encode(aty="b1", bty="b1", opc="and.popc", al="row", bl="col", shape="m8n8k128")
    assert main(["explain", hex(word)]) == 0
    page = capsys.readouterr().out
    assert "| 7-4 | opc | 1 | and.popc |" in page
    assert "| 39-32 | shape | 5 | m8n8k128 |" in page
    assert "cannot have this number" not in page


def test_illegal_number_shows_why_no_word_has_it(capsys):
    assert main(["explain", "99999999"]) == 0
    page = capsys.readouterr().out
    assert "the modifier word of a tcgen05 multiplication: 0x5f5e0ff does not fit 11 bits" in page
    assert "a shared-memory matrix descriptor" not in page


@given(st.integers(0, 2**64 - 1), st.booleans())
def test_plain_number_is_a_descriptor_only_if_it_is_plausible(value, masked):
    value &= 0xC00E_3FFF_3FFF_3FFF if masked else ~0
    plausible = value > 0xFFFF_FFFF and value == Descriptor.decode(value).encode()
    assert ("a shared-memory matrix descriptor" in number_page(str(value))) == plausible
    assert "a shared-memory matrix descriptor" in number_page(f"descriptor:{value:#x}")


def test_prefix_selects_the_word():
    page = number_page("config:25")
    assert "the configuration word" in page
    assert "the operands of a scaled" not in page
    assert "opc is 3" in number_page(f"mma:{MMA.encode(aty=6, bty=6, shape=1) | 0x30:#x}")
    with pytest.raises(UsageError, match="unknown packed word 'colour'; expected mma, move"):
        number_page("colour:5")


@pytest.mark.parametrize("text", ["0x", "12q", "0x1ffffffffffffffff", "1.5"])
def test_text_that_is_no_number_is_an_error(text, capsys):
    with pytest.raises(UsageError):
        number_page(text)
    assert main(["explain", text]) == 2
    assert "error" in capsys.readouterr().err
