"""Registers and other items that ptxas accepts in the vectors of matrix fragments.

Some targets have no hardware unit for an instruction. There, ptxas emits a software routine and accepts fewer items.

Source: answers of ptxas 12.9 and 13.1 for each Form, operand and target
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from warploom.isa.model.operands import Slots


@dataclass(frozen=True, slots=True)
class FragmentRegisters:
    """Items that ptxas accepts in the vector of a fragment: registers of `type`, and the items in `words`.

    The words are "predicate" (one among 32-bit registers), "special" (special registers), "integer", "float" and
    "coded" (constants among registers; "coded" is a float written as 32 bits), "constants" (no registers at all), and
    "sink" (an unwanted result). The types of all registers must agree.
    """

    type: str
    words: frozenset[str]
    extensions: frozenset[str] = frozenset()  # names of syntax beyond the manual
    # If not 0, registers must agree in each group of this many items. 0: in the whole vector.
    group: int = 0
    judged: int = 0  # number of items in groups; 0: all


FragmentRule = Callable[[Slots, int], FragmentRegisters]
"""Function from an opcode's modifiers and a target number to the legal items of a fragment."""

_INTEGERS = frozenset({"u8", "s8", "u4", "s4", "b1"})
_FEW_BITS = frozenset({"u4", "s4", "b1"})
_BYTES = frozenset({"u8", "s8"})
_EIGHT_BITS = frozenset({"e4m3", "e5m2"})
_ONLY_BITS = "e4m3x4"  # packed elements, which take registers that are declared as bits only
_TYPES = {"f16": "f16x2", "bf16": _ONLY_BITS, "tf32": _ONLY_BITS, "f32": "f32", "f64": "b64", "s32": "s32"}

_SOURCE = frozenset({"predicate", "special", "integer", "float"})
_RESULT = frozenset({"predicate", "special", "sink"})
_CONSTANTS = frozenset({"integer", "float"})
_DOUBLES = _CONSTANTS | {"constants"}
_NOTHING = frozenset[str]()


def _registers(type_word: str, words: frozenset[str], letter: str = "", *, bare: bool = False) -> FragmentRegisters:
    """Return the items of a fragment that permits registers of `type_word` and the items in `words`.

    `letter` is "c" for operand C.
    """
    if type_word == "s32" and letter == "c":
        words |= {"constants"}
    extensions = {"predicate", "bare"} if bare else {"predicate"}
    is_extended = type_word == "b32" and "predicate" in words
    return FragmentRegisters(type_word, words, frozenset(extensions if is_extended else ()))


# Products of whole fragments --------------------------------------------------------------------------------


def multiplication(letter: str, *, sparse: bool = False) -> FragmentRule:
    """Return the rule for operand "a", "b", "c" or "d" of a multiplication with documented fragments.

    With `sparse`, A is sparse.
    """

    def rule(slots: Slots, target: int) -> FragmentRegisters:
        if slots["atype"] == "f64":
            return _double(letter, slots, target)
        words = _legal_items(letter, slots, target, sparse)
        pair = int(slots["shape"].rpartition("k")[2]) <= (64 if slots["atype"] in _FEW_BITS else 32)
        bare = sparse and letter == "a" and slots["atype"] in _INTEGERS and (pair or target < 90)
        whole = _registers(_register_type(letter, slots, target, sparse), words, letter, bare=bare)
        return replace(whole, group=1) if _is_split(letter, slots, target, sparse) else whole

    return rule


def metadata(slots: Slots, target: int) -> FragmentRegisters:
    """Return the registers and other items that ptxas accepts as the metadata of a sparse multiplication."""
    if not _in_software(slots, target, sparse=True):
        return FragmentRegisters("b32", _SOURCE, frozenset({"predicate", "vectors"}))
    return FragmentRegisters("u32" if slots["atype"] in _EIGHT_BITS else "b32", _NOTHING)


def _in_software(slots: Slots, target: int, *, sparse: bool) -> bool:
    """Return True if the target lacks a hardware unit for the multiplication. With `sparse`, A is sparse."""
    element = slots["atype"]
    if element in _EIGHT_BITS:
        return 90 <= target < 120
    if element in _FEW_BITS:
        return target >= _first_without_unit(slots)
    if sparse:
        return target >= 100 and slots["spvariant"] == "sp" and slots["atype"] in {"f16", *_BYTES}
    if element in _BYTES:
        return slots["shape"] == "m8n8k16" and target >= 100
    return element == "f16" and slots["shape"] == "m8n8k4" and target >= 80


def _is_split(letter: str, slots: Slots, target: int, sparse: bool) -> bool:
    if "stype" in slots or not _in_software(slots, target, sparse=sparse):
        return False
    of_bytes = slots["atype"] in _BYTES and letter == "c" and not sparse
    return of_bytes or (slots["atype"] in _EIGHT_BITS and letter in "cd")


def _first_without_unit(slots: Slots) -> int:
    return 100 if (slots["atype"], slots.get("bitOp")) == ("b1", "and") else 90


def _register_type(letter: str, slots: Slots, target: int, sparse: bool) -> str:
    element, multiplied = slots[f"{letter}type"], slots["atype"]
    if sparse and multiplied in ("f16", "bf16", "tf32") and element != "f16":
        return "b32"
    if "stype" in slots and letter in "ab":
        return _ONLY_BITS
    if slots["shape"] == "m8n8k16" and (letter == "a" or (letter == "b" and target < 100)):
        return "s32"
    return _TYPES.get(element, "b32")


def _legal_items(letter: str, slots: Slots, target: int, sparse: bool) -> frozenset[str]:
    if "stype" in slots or not _in_software(slots, target, sparse=sparse):
        return _RESULT if letter == "d" else _SOURCE
    element = slots["atype"]
    if element in _EIGHT_BITS:
        if letter in "ab":
            return frozenset({"special", "integer"})
        return frozenset({"float"}) if (letter, slots["ctype"]) == ("c", "f32") else _NOTHING
    if letter == "d":
        return _RESULT
    if sparse and element not in _FEW_BITS:
        return _CONSTANTS if letter == "a" else _SOURCE
    if element in _BYTES:
        return {"a": _NOTHING, "b": _SOURCE, "c": frozenset({"integer"})}[letter]
    return _CONSTANTS


def _double(letter: str, slots: Slots, target: int) -> FragmentRegisters:
    if letter != "d":
        return FragmentRegisters("b64", _DOUBLES)
    if slots["shape"] != "m8n8k4" and target >= 100:
        return FragmentRegisters("f64", _NOTHING)
    return FragmentRegisters("b64", frozenset({"sink"}))


# The older instructions, whose fragments are opaque ---------------------------------------------------------


def opaque_multiplication(letter: str) -> FragmentRule:
    """Return the rule for operand "a", "b", "c" or "d" of a multiplication with opaque fragments."""

    def rule(slots: Slots, target: int) -> FragmentRegisters:
        multiplied = slots.get("atype", "f16")
        if multiplied == "f64":
            if letter in "ab":
                return FragmentRegisters("f64", frozenset({"float", "constants"}))
            return FragmentRegisters("b64", _DOUBLES if letter == "c" else frozenset({"sink"}))
        element = slots.get(f"{letter}type", "f16")
        type_word = "s32" if multiplied in _INTEGERS else _TYPES[element]
        words = _of_integers if multiplied in _INTEGERS else _of_floats
        whole = _registers(type_word, words(letter, slots, target), letter)
        group, judged = _groups(letter, slots, target)
        return replace(whole, group=group, judged=judged)

    return rule


def _groups(letter: str, slots: Slots, target: int) -> tuple[int, int]:
    """Return the fields `group` and `judged` of the `FragmentRegisters` of operand `letter`."""
    multiplied, shape = slots.get("atype", "f16"), slots["shape"]
    if multiplied in _FEW_BITS:
        return 0, 0
    if letter in "cd":
        element = slots[f"{letter}type"]
        if multiplied in _BYTES:
            return 2 if target < 80 else 4, 0
        converted = element == "f16" and slots["dtype"] != slots["ctype"]
        return (0 if target < 75 or converted else 2 if element == "f16" else 4), 0
    if multiplied in _BYTES:
        return int(target < 80), 0
    if target < 75:
        return 2, 0
    long, short = ("m32n8k16", "m8n32k16") if letter == "a" else ("m8n32k16", "m32n8k16")
    size = 4 if shape == long or (letter == "a" and shape != short) else 2
    if multiplied != "f16":
        return (size // 2 if multiplied == "tf32" else size), 0
    return (size // 2 if target < 80 else size), {long: 8, short: 2}.get(shape, 4)


def _of_floats(letter: str, slots: Slots, target: int) -> frozenset[str]:
    multiplied = slots.get("atype", "f16")
    if multiplied == "bf16":
        return _RESULT if letter == "d" else _SOURCE
    if multiplied == "tf32":
        others = {"b": frozenset({"special"}), "d": _RESULT - {"sink"}}
        return others.get(letter, _SOURCE)
    types = slots["dtype"], slots["ctype"]
    if letter == "d":
        if types == ("f16", "f32"):
            return _NOTHING if target < 75 else frozenset({"sink"})
        return _RESULT - {"sink"} if 75 <= target < 80 else _RESULT
    if letter == "c" and types == ("f32", "f16") and target >= 75:
        return frozenset({"integer"})
    return _SOURCE


def _of_integers(letter: str, slots: Slots, target: int) -> frozenset[str]:
    multiplied, shape = slots["atype"], slots["shape"]
    if letter == "d":
        return _RESULT
    if multiplied in _BYTES:
        if letter == "c":
            return _SOURCE
        if target < 80:
            return frozenset({"integer", "constants"})
        if (letter, shape) in (("a", "m8n32k16"), ("b", "m32n8k16")):
            return frozenset({"special"})
        return frozenset({"predicate", "special"}) if (letter, shape) == ("b", "m16n16k16") else _SOURCE
    if letter == "c":
        return _CONSTANTS if target >= _first_without_unit(slots) else _SOURCE
    if multiplied == "b1":
        return frozenset({"special"}) if 90 <= target < _first_without_unit(slots) else _NOTHING
    return frozenset({"integer", "constants"}) if target >= 90 else _NOTHING


def opaque_load(slots: Slots, target: int) -> FragmentRegisters:
    """Return the items that ptxas accepts in the vector of a load whose fragment layout is opaque."""
    element = slots["type"]
    if element in ("f16", "f32") and target < 75:
        return _registers(_moved_type(element), _RESULT)
    return FragmentRegisters(_moved_type(element), frozenset({"sink"}), group=int(element == "f64"))


def opaque_store(slots: Slots, target: int) -> FragmentRegisters:
    """Return the items that ptxas accepts in the vector of a store whose fragment layout is opaque.

    `target` is the number of the target, such as 90.
    """
    element = slots["type"]
    if element in ("f16", "f32") and target < 75:
        return _registers(_moved_type(element), _SOURCE)
    others = {"f64": frozenset({"float"}), "s32": frozenset({"integer", "coded", "constants"})}
    words = others.get(element, frozenset({"integer", "coded"}))
    return FragmentRegisters(_moved_type(element), words, group=int(element == "f64"))


def _moved_type(element: str) -> str:
    if element == "f64":
        return "f64"
    return "s32" if element in _BYTES else _TYPES.get(element, "b32")


# Matrices of shared memory ----------------------------------------------------------------------------------


def loaded(slots: Slots, target: int) -> FragmentRegisters:
    """Return the registers and other items that ptxas accepts as the destination of a matrix load."""
    return FragmentRegisters("b32", _RESULT, frozenset({"predicate"}))


def stored(slots: Slots, target: int) -> FragmentRegisters:
    """Return the registers and other items that ptxas accepts as the source of a matrix store."""
    return FragmentRegisters("b32", _CONSTANTS | {"special"})
