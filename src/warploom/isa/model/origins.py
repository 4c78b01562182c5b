"""Origins of the results of an instruction: the registers and the memory from which their bytes come.

The origins follow from the semantics of the instruction, which is executed on test values, called probes:

- For instructions that move bytes, such as loads, stores and shuffles, each byte of the sources is a label.
- For lane-wise instructions, one byte of a source is changed at a time. It is an origin if the result changes.
- Matrix multiplications have a `Multiplication`, which lists the layouts of their operands.

Any other result comes from all sources of all active lanes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.effects import Access, Members
from warploom.isa.model.form import Form
from warploom.isa.model.types import TYPES, Type
from warploom.layout import Order
from warploom.lazy_dataclass import dataclass

Array = NDArray[Any]
Bytes = NDArray[np.uint8]
Lanes = NDArray[np.bool_]

_LANES = 32
_MEMORY = 1 << 15  # first label of a byte in memory; smaller labels belong to registers
_SPAN = 32  # largest number of bytes that a lane loads at once


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes [start, start + size) of a register in one lane, or of an access of one lane to memory.

    `item` is the index of the register in a vector. An access to memory has the operand "", and `item` is the index of
    the access among those of the instruction.
    """

    operand: str
    item: int
    lane: int
    start: int
    size: int


class _Source:
    """Operand that an instruction reads or writes while it is executed on probes."""

    __slots__ = ("extra", "name", "type")

    def __init__(self, name: str, type: str, extra: tuple[Any, ...]) -> None:
        self.name, self.type, self.extra = name, type, extra


class _Probe:
    """Warps that execute an instruction on probes, and record its results.

    `values` has the values of the sources by name. Shapes: values (items, warps, 32) or broadcastable.
    """

    arch = ""

    def __init__(self, values: Mapping[str, Array], count: int, mask: Lanes) -> None:
        self.values, self.count, self._mask = values, count, mask
        self.results: dict[str, Array] = {}
        self.stored: list[Array] = []
        self.loads = 0
        self.digit = 0

    def read(self, value: _Source) -> Array:
        return self.values[value.name][0]

    def read_vector(self, value: _Source) -> Array:
        return np.broadcast_to(self.values[value.name], (len(self.values[value.name]), self.count, _LANES)).copy()

    def read_carry(self) -> Array:
        return np.zeros((self.count, _LANES), np.bool_)

    def write_carry(self, carry: Array) -> None:
        del carry

    def write(self, value: _Source | None, result: Array) -> None:
        if value is not None:
            shape = (1, self.count, _LANES)
            self.results[value.name] = np.ascontiguousarray(np.broadcast_to(result, shape))

    def write_vector(self, value: _Source, results: Array) -> None:
        parts = [np.broadcast_to(each, (self.count, _LANES)) for each in results]
        self.results[value.name] = np.ascontiguousarray(np.stack(parts))

    def read_fragment(self, value: _Source, order: Order) -> Array:
        units = self.read_vector(value).reshape(len(self.values[value.name]), -1).view(order.dtype)
        matrix = np.empty(order.target.size, order.dtype)
        matrix[order.target] = units
        return matrix[None]

    def write_fragment(self, value: _Source, order: Order, units: Array) -> None:
        registers = np.ascontiguousarray(units.reshape(-1).view(order.dtype)[order.target])
        self.results[value.name] = registers.view(np.uint32).reshape(len(registers), 1, _LANES)

    def active(self) -> Lanes:
        return self._mask

    def addresses(self, value: _Source) -> Array:
        del value
        return np.zeros((self.count, _LANES), np.uint64)

    def load(self, space: str, addresses: Array, type: str, count: int = 1, lanes: Any = None) -> Array:
        del space, addresses
        size = TYPES[type].dtype.itemsize
        found = self._labels(_LANES, count * size)
        if lanes is not None:
            found[~np.broadcast_to(lanes, (1, _LANES))[0]] = 0
        parts = np.ascontiguousarray(found.reshape(_LANES, count, size).transpose(1, 0, 2))
        return parts.view(TYPES[type].dtype).reshape(count, 1, _LANES)

    def load_rows(self, space: str, addresses: Array, rows: int) -> Bytes:
        del space, addresses
        return self._labels(rows, 16)[None]

    def atomic(
        self, space: str, addresses: Array, op: str, type: str, values: Array, compares: Array | None = None
    ) -> Array:
        old = self.load(space, addresses, type)
        if op == "exch":
            self.store(space, addresses, type, values[None])
        del compares
        return old[0]

    def store(self, space: str, addresses: Array, type: str, values: Array, lanes: Any = None) -> None:
        del space, addresses, lanes
        size = TYPES[type].dtype.itemsize
        parts = np.ascontiguousarray(np.broadcast_to(values, (len(values), 1, _LANES)))
        self.stored.append(
            parts.view(np.uint8).reshape(len(values), _LANES, size).transpose(1, 0, 2).reshape(_LANES, -1)
        )

    def store_rows(self, space: str, addresses: Array, rows: Bytes) -> None:
        del space, addresses
        self.stored.append(rows[0])

    def defer(self, channel: str, action: Callable[[Any, Mapping[str, Array]], None], captured: Any) -> None:
        del channel
        action(self, captured)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _move_nothing

    def _labels(self, rows: int, size: int) -> Bytes:
        first = _MEMORY + self.loads * _LANES * _SPAN
        self.loads += 1
        labels = first + np.arange(rows)[:, None] * _SPAN + np.arange(size)
        return (labels >> 8 * self.digit & 0xFF).astype(np.uint8)


def _move_nothing(*arguments: object, **keywords: object) -> None:
    """Execute a synchronisation, which moves no bytes."""
    del arguments, keywords


def _stand_ins(form: Form, operands: SimpleNamespace) -> SimpleNamespace:
    """Return the operands of an instruction with a `_Source` in the place of each value."""
    found = SimpleNamespace(**vars(operands))
    for name in form.operands:
        value = getattr(operands, name)
        if value is not None and not isinstance(value, int | str | tuple):
            setattr(found, name, _Source(name, getattr(value, "type", ""), getattr(value, "extra", ())))
    return found


def moved_operands(form: Form) -> tuple[str, ...]:
    """Return the operands whose bytes an instruction copies to other registers or to memory."""
    stored = tuple(
        each.value for each in form.effects_of(Access) if each.value and form.operands[each.value].access != "write"
    )
    return (*form.flow.elements, *stored)


class Origins:
    """Origins of the results of the instructions of one program. Results of probes are kept."""

    def __init__(self) -> None:
        self._labels: dict[tuple[Any, ...], tuple[dict[str, Array], list[Array]]] = {}
        self._influences: dict[tuple[Any, ...], tuple[Part, ...]] = {}

    def of(
        self, form: Form, operands: SimpleNamespace, values: Mapping[str, Array], active: Lanes, result: Part
    ) -> tuple[Part, ...]:  # fmt: skip
        """Return the parts of registers and of accesses from which the bytes of a result come.

        `operands` are those of the linked instruction. `values` has the values that its sources have in one warp, and
        `active` the lanes that execute the instruction. Parts of predicates have one byte.

        Shapes: values (items, 32) or broadcastable, active (32,).
        """
        if form.lane_function is not None and form.is_lanewise:
            return self._of_lane(form, operands, values, result)
        if moved_operands(form) or any(each.kind == "read" for each in form.effects_of(Access)):
            found = self._moved(form, operands, values, active, result)
            if found is not None:
                return found
        members = form.effect(Members)
        lanes = np.flatnonzero(active).tolist() if members or form.collective else [result.lane]
        parts = [
            Part(name, item, lane, 0, array.dtype.itemsize)
            for name, array in values.items()
            if members is None or name != members.mask
            for item in range(len(array))
            for lane in lanes
        ]
        if form.effects_of(Access):  # an atomic update also reads memory
            parts.append(Part("", 0, result.lane, 0, result.size))
        return tuple(parts)

    def _of_lane(
        self, form: Form, operands: SimpleNamespace, values: Mapping[str, Array], result: Part
    ) -> tuple[Part, ...]:  # fmt: skip
        given = {name: np.broadcast_to(array, (len(array), _LANES))[:, result.lane] for name, array in values.items()}
        fixed = [each.tobytes() for name, each in given.items() if not _is_varied(form, operands, name)]
        key = id(operands), result.operand, result.item, result.start, result.size, *fixed
        found = self._influences.get(key)
        if found is None:
            found = self._influences[key] = _influences(form, operands, given, result)
        return tuple(Part(each.operand, each.item, result.lane, each.start, each.size) for each in found)

    def _moved(
        self, form: Form, operands: SimpleNamespace, values: Mapping[str, Array], active: Lanes, result: Part
    ) -> tuple[Part, ...] | None:  # fmt: skip
        """Return the origins of a result that consists of bytes of the sources, or None for any other result."""
        moved = [name for name in moved_operands(form) if name in values and values[name].dtype != np.bool_]
        fixed = [array.tobytes() for name, array in values.items() if name not in moved]
        key = id(operands), active.tobytes(), *fixed
        if key not in self._labels:
            self._labels[key] = _move_labels(form, operands, values, active, moved)
        results, stored = self._labels[key]
        if result.operand and result.operand not in results:
            return None
        if result.operand:
            labels = results[result.operand][result.item]
        elif stored:
            labels = stored[result.item if result.item < len(stored) else 0]
        else:
            return None
        found: list[tuple[Any, ...]] = []
        for label in labels[result.lane, result.start : result.start + result.size].tolist():
            if label >= _MEMORY:
                access, rest = divmod(label - _MEMORY, _LANES * _SPAN)
                found.append(("", access, *divmod(rest, _SPAN)))
            elif label:
                left = label - 1
                for name in moved:
                    size = values[name].dtype.itemsize
                    if left < len(values[name]) * _LANES * size:
                        found.append((name, left // (_LANES * size), left // size % _LANES, left % size))
                        break
                    left -= len(values[name]) * _LANES * size
        return _joined(found)


# Instructions that move bytes -----------------------------------------------------------------------------


def _move_labels(
    form: Form, operands: SimpleNamespace, values: Mapping[str, Array], active: Lanes, moved: Sequence[str]
) -> tuple[dict[str, Array], list[Array]]:
    """Return the labels of the bytes of the results and of the stores.

    Shapes: (items, 32, bytes) for a result, (lanes, bytes) for a store.
    """
    assert form.execution is not None
    stand_ins = _stand_ins(form, operands)
    results: dict[str, Array] = {}
    stored: list[Array] = []
    for digit in range(2):  # labels have 16 bits, and the semantics move bytes
        given = {name: array[:, None] for name, array in values.items()}
        first = 1
        for name in moved:
            array = values[name]
            labels = np.arange(first, first + len(array) * _LANES * array.dtype.itemsize)
            first += len(labels)
            octets = (labels >> 8 * digit & 0xFF).astype(np.uint8)
            given[name] = octets.view(array.dtype).reshape(len(array), 1, _LANES)
        probe = _Probe(given, 1, active[None])
        probe.digit = digit
        form.execution(probe, stand_ins)  # pyright: ignore[reportArgumentType] - has the methods that it needs
        for name, array in probe.results.items():
            octets = array.view(np.uint8).reshape(len(array), _LANES, -1).astype(np.int64) << 8 * digit
            results[name] = octets if digit == 0 else results[name] | octets
        for number, octets in enumerate(probe.stored):
            labels = octets.astype(np.int64) << 8 * digit
            if digit == 0:
                stored.append(labels)
            else:
                stored[number] |= labels
    return results, stored


def _joined(octets: Sequence[tuple[Any, ...]]) -> tuple[Part, ...]:
    """Join adjacent bytes, given as (operand, item, lane, byte), to parts."""
    parts: list[Part] = []
    for operand, item, lane, byte in octets:
        if parts and (parts[-1].operand, parts[-1].item, parts[-1].lane) == (operand, item, lane):
            last = parts[-1]
            if last.start + last.size == byte:
                parts[-1] = Part(operand, item, lane, last.start, last.size + 1)
                continue
        parts.append(Part(operand, item, lane, byte, 1))
    return tuple(dict.fromkeys(parts))


# Lane-wise instructions -----------------------------------------------------------------------------------


def _type_of(operands: SimpleNamespace, name: str) -> Type:
    return TYPES[getattr(getattr(operands, name), "type", "b32")]


def _is_varied(form: Form, operands: SimpleNamespace, name: str) -> bool:
    """Return True if probes replace the present values of a source by random values."""
    return name in form.flow.elements or _type_of(operands, name).kind in ("float", "packed")


def _influences(form: Form, operands: SimpleNamespace, values: Mapping[str, Array], result: Part) -> tuple[Part, ...]:
    """Return the sources of a lane-wise result: a change of these bytes changes the result.

    Floating-point numbers and moved bytes get random values, because a factor of 0 would hide the other factor.
    Integers keep their present values, because they may select bytes. Shapes: values (items,).
    """
    assert form.execution is not None
    random = np.random.default_rng(0)
    octets = [
        (name, item, byte)
        for name, array in values.items()
        for item in range(len(array))
        for byte in range(array.dtype.itemsize)
    ]
    count = len(octets) + 1
    moved = form.flow.elements
    given: dict[str, Array] = {}
    for name, array in values.items():
        base = np.broadcast_to(array[:, None, None], (len(array), count, _LANES)).copy()
        if _is_varied(form, operands, name) and array.dtype != np.bool_:
            numbers = _numbers(random, len(array) * _LANES, array.dtype.itemsize, _type_of(operands, name).name)
            base[:] = numbers.view(base.dtype).reshape(len(array), 1, -1)
        given[name] = base
    for row, (name, item, byte) in enumerate(octets, 1):
        target = given[name][item, row]
        if target.dtype == np.bool_:
            target[:] = ~target
            continue
        parts = target.view(np.uint8).reshape(_LANES, -1)
        parts[:, byte] ^= random.integers(1, 256, _LANES, np.uint8)
    probe = _Probe(given, count, np.ones((count, _LANES), np.bool_))
    with np.errstate(all="ignore"):
        form.execution(probe, _stand_ins(form, operands))  # pyright: ignore[reportArgumentType]
    array = probe.results[result.operand][result.item]
    found = array.view(np.uint8).reshape(count, _LANES, -1)[..., result.start : result.start + result.size]
    changed = (found != found[:1]).any(axis=(1, 2))
    origin = [each for each, has_changed in zip(octets, changed[1:].tolist(), strict=True) if has_changed]
    if all(name in moved or values[name].dtype == np.bool_ for name, _, _ in origin):
        return _joined([(name, item, result.lane, byte) for name, item, byte in origin])
    whole: dict[Part, None] = {}
    for name, item, byte in origin:
        size = min(_type_of(operands, name).element_bytes or 1, values[name].dtype.itemsize)
        whole[Part(name, item, result.lane, byte // size * size, size)] = None
    return tuple(whole)


def _numbers(random: np.random.Generator, count: int, size: int, type: str) -> Bytes:
    """Return the bytes of random numbers, with magnitudes near 1 for floating-point types."""
    found = random.integers(0, 256, (count, size), np.uint8)
    if type.startswith("f16"):
        found[:, 1::2] = found[:, 1::2] & 0x87 | 0x38
    elif type.startswith("bf16") or type in ("f32", "tf32", "f64"):
        found[:, -1 :: -2 if type == "bf16x2" else -8] = found[:, -1 :: -2 if type == "bf16x2" else -8] & 0x80 | 0x3F
    elif type == "f32x2":
        found[:, 3::4] = found[:, 3::4] & 0x80 | 0x3F
    return found.reshape(-1)


# Matrix multiplications -----------------------------------------------------------------------------------


def registers_of_element(map_: Any, row: int, col: int) -> tuple[tuple[int, int, int, int], ...]:
    """Return (lane, register, first byte, bytes) of each copy of an element in a fragment."""
    found: list[tuple[int, int, int, int]] = []
    for lane, item in map_.owners(row, col):
        register, bit = map_.register_of(item)
        found.append((lane, register, bit // 8, max(map_.bits // 8, 1)))
    return tuple(found)


# Arithmetic -----------------------------------------------------------------------------------------------

_TESTS = ((3.0, 5.0, 7.0), (2.0, 9.0, 4.0), (6.0, 2.0, 5.0))
"""Sources of the probes of `arithmetic`. All results are exact in every type."""


def _product_and_sum(x: float, y: float, z: float) -> float:
    return x * y + z


_ARITHMETIC: dict[int, dict[str, Callable[..., Any]]] = {
    1: {"copy": operator.pos, "negation": operator.neg},
    2: {"sum": operator.add, "difference": operator.sub, "product": operator.mul},
    3: {"product and sum": _product_and_sum},
}


def arithmetic(
    form: Form, operands: SimpleNamespace, values: Mapping[str, Array], result: Part, parts: Sequence[Part]
) -> tuple[str, tuple[int, ...]]:
    """Return the operation of a lane-wise instruction on its sources `parts`, and their order in it.

    The operation is copy, negation, sum, difference, product, "product and sum" for x y + z, or "" for any other one.
    Sources that are not in `parts` have their present values. Shapes: values (items, 32) or broadcastable.
    """
    if form.execution is None or form.lane_function is None or not 1 <= len(parts) <= 3:
        return "", ()
    try:
        found = [_evaluate(form, operands, values, result, parts, test) for test in _TESTS]
    except (KeyError, OverflowError, ValueError):  # a type without numbers
        return "", ()
    for order in permutations(range(len(parts))):
        for name, function in _ARITHMETIC[len(parts)].items():
            if all(function(*(test[k] for k in order)) == number for test, number in zip(_TESTS, found, strict=True)):
                return name, order
    return "", ()


def _evaluate(
    form: Form, operands: SimpleNamespace, values: Mapping[str, Array], result: Part, parts: Sequence[Part],
    numbers: Sequence[float],
) -> float:  # fmt: skip
    assert form.execution is not None
    given = {name: np.broadcast_to(array, (len(array), _LANES))[:, None].copy() for name, array in values.items()}
    for part, number in zip(parts, numbers, strict=False):
        octets = np.frombuffer(_encoded(number, _type_of(operands, part.operand)), np.uint8)
        lane = given[part.operand][part.item, 0].view(np.uint8).reshape(_LANES, -1)
        lane[:, part.start : part.start + len(octets)] = octets
    probe = _Probe(given, 1, np.ones((1, _LANES), np.bool_))
    with np.errstate(all="ignore"):
        form.execution(probe, _stand_ins(form, operands))  # pyright: ignore[reportArgumentType]
    octets = probe.results[result.operand][result.item, 0].view(np.uint8).reshape(_LANES, -1)[0]
    kind = _type_of(operands, result.operand)
    size = kind.element_bytes
    first = result.start // size * size
    return _decoded(octets[first : first + size].tobytes(), kind)


_NUMBERS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "tf32": np.float32, "f16x2": np.float16,
            "f32x2": np.float32}  # fmt: skip


def _encoded(number: float, type: Type) -> bytes:
    """Return a number as the bytes of an element of a type. Errors: KeyError."""
    if type.name in ("bf16", "bf16x2"):
        return np.float32(number).tobytes()[2:]
    if type.kind in ("signed", "unsigned", "bits"):
        return int(number).to_bytes(type.bytes, "little", signed=number < 0)
    return _NUMBERS[type.name](number).tobytes()


def _decoded(octets: bytes, type: Type) -> float:
    if type.name in ("bf16", "bf16x2"):
        return float(np.frombuffer(b"\0\0" + octets, np.float32)[0])
    if type.kind in ("signed", "unsigned", "bits"):
        return float(int.from_bytes(octets, "little", signed=type.kind == "signed"))
    return float(np.frombuffer(octets, _NUMBERS[type.name])[0])
