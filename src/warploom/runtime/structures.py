"""Structures that a kernel takes by value."""

# Callers may pass values of any type, whatever the annotations state.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeGuard, cast

from warploom.diagnostics import UsageError
from warploom.isa.model.parameters import Parameter, aligned, is_scalar
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMap
from warploom.layout.tensormap import TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES
from warploom.runtime.arrays import is_array

if TYPE_CHECKING:
    from warploom.runtime.c_types import Record

POINTER = "u64"
"""PTX type of an address."""


class Field(NamedTuple):
    """Field of a structure. `name` may be "". Units: `offset`, `size` and `align` in bytes."""

    offset: int
    type: str
    value: object
    size: int
    align: int
    name: str = ""

    def parameter(self, whole: Parameter) -> Parameter:
        """Return this field as a kernel parameter. The structure fills the parameter `whole`."""
        is_array = isinstance(self.value, (Struct, TensorMap, bytes))
        name = f"{whole.name}+{self.offset}{f', field {self.name}' if self.name else ''}"
        return Parameter(name, self.type, whole.offset + self.offset, self.size, self.align, is_array, False)


class Struct:
    """Structure that a kernel takes by value, with the layout of a C structure.

    A number or a pointer is aligned to its size, a TensorMap to 64 bytes, a Struct to its largest alignment. Unused
    bytes are zero. A field is one of these values:

    - An array, passed as its 64-bit address.
    - A list of arrays, TensorMaps or Structs, passed as the address of a buffer: the buffer has the addresses of the
      arrays, the 128-byte tensor maps, or the structures.
    - None, a null pointer.
    - A NumPy scalar, or a pair of a PTX type and a number such as `("f32", 0.5)`.
    - A TensorMap, bytes, or another Struct.

        wl.Struct(x, np.int32(n), ("f32", 0.5))

    `Struct.c`, `Struct.of` and `Struct.patched` take the layout from C, ctypes, NumPy, or recorded bytes.

    Errors: UsageError launch.argument.
    """

    def __init__(self, *fields: object) -> None:
        self.fields: tuple[Field, ...] = ()
        self.size, self.align = 0, 1
        self.background: bytes | None = None  # bytes outside the fields; then the size is fixed
        for value in fields:
            self._append(value)
        self.size = aligned(self.size, self.align)

    @classmethod
    def at(cls, fields: Mapping[int, object]) -> Struct:
        """Return a structure with the given fields. The keys are byte offsets."""
        made = cls()
        for offset in fields:
            if not isinstance(offset, int) or offset < 0:
                raise UsageError(
                    f"a field of a Struct is at {offset!r}; expected an offset of 0 bytes or more",
                    code="launch.argument",
                )
        for offset in sorted(fields):
            made._append(fields[offset], offset)
        return made

    @classmethod
    def c(cls, declaration: str, /, **fields: object) -> Struct:
        """Return a structure with the layout of a C declaration.

            wl.Struct.c("struct { float *x; int n; float scale[2]; CUtensorMap map; }", x=x, n=5, scale=(1, 2), map=m)

        The text has one or more declarations; the last one counts. Members are numbers (types of C, `<cstdint>` and
        CUDA, with `half`, `__nv_bfloat16` and vectors such as `float4`), pointers, arrays, structures, unions and
        CUtensorMap. `alignas`, `__align__`, `aligned` and `packed` are supported. Classes, templates, bit-fields and
        the preprocessor are not. The text is read, and not evaluated. A CUtensorMap is aligned to 64 bytes, as in
        CUDA 12; write `alignas(128) CUtensorMap` for a kernel that CUDA 13 compiled.

        Each member needs a value:

        - A number: a number in its range.
        - A pointer, or an integer of 64 bits: an array, None, an address, or a list as in a field of `Struct`. For a
          TensorMap or a Struct, the pointer is the address of a buffer with its bytes.
        - An array: a sequence with all elements, or bytes for elements of one byte.
        - A structure: a mapping from names, a sequence, a Struct or bytes. A union: a mapping with one name.
        - CUtensorMap: a TensorMap or 128 bytes.

        Errors: UsageError launch.argument, with the name and the offset of the field, or with the place in the text.
        """
        from warploom.runtime.c_syntax import parse_structure

        if not isinstance(declaration, str):
            raise UsageError(
                f"the C declaration is a {type(declaration).__name__}; expected text such as 'struct {{ float *x; }}'",
                code="launch.argument",
            )
        kind = parse_structure(declaration)
        return cls._of_type(kind, bytes(kind.size), fields, complete=True)

    @classmethod
    def of(cls, source: object, /, **fields: object) -> Struct:
        """Return a structure with the layout of a structure of ctypes or NumPy.

        `source` is an instance of `ctypes.Structure` or a structured scalar of NumPy, whose contents are used. Values
        in `fields` replace its fields: for example, arrays replace pointers. `source` may also be a subclass of
        `ctypes.Structure` or a structured dtype. Then `fields` needs a value for each field, as in `Struct.c`.

        Fields of type `object` of a NumPy structure are pointers, and may contain arrays.

        Errors: UsageError launch.argument.
        """
        from warploom.runtime.foreign_structures import read_source

        kind, raw, values = read_source(source, fields)
        return cls._of_type(kind, bytes(kind.size) if raw is None else raw, {**values, **fields}, complete=raw is None)

    @classmethod
    def patched(cls, raw: bytes | bytearray | memoryview, fields: Mapping[int, object]) -> Struct:
        """Return a structure that consists of recorded bytes, with some fields replaced.

        The keys of `fields` are byte offsets, and its values are fields as in `Struct`.

        Errors: UsageError launch.argument.
        """
        if not isinstance(raw, (bytes, bytearray, memoryview)):
            raise UsageError(
                f"the bytes of a structure are a {type(raw).__name__}; expected bytes", code="launch.argument"
            )
        made, data = cls.at(fields), bytes(raw)
        for field in made.fields:
            if field.offset + field.size > len(data):
                raise UsageError(
                    f"the field at byte {field.offset} has {field.size} bytes; expected a field within the {len(data)} "
                    "bytes of the structure",
                    code="launch.argument",
                )
        made.background, made.size, made.align = data, len(data), 1
        return made

    @classmethod
    def _of_type(cls, kind: Record, raw: bytes, values: Mapping[str, object], *, complete: bool) -> Struct:
        from warploom.runtime.c_values import Contents

        contents = Contents(bytearray(raw), complete, _value_bytes, _is_address)
        contents.place(kind, values)
        made = cls()
        for offset, (name, value) in sorted(contents.fields.items()):
            word, value, size, align = _field(value)
            made.fields = (*made.fields, Field(offset, word, value, size, align, name))
        made.background, made.size, made.align = bytes(contents.raw), kind.size, kind.align
        return made

    def _append(self, value: object, offset: int | None = None) -> None:
        word, value, size, align = _field(value)
        start = aligned(self.size, align) if offset is None else offset
        if start < self.size:
            raise UsageError(f"two fields of a Struct overlap at byte {start}", code="launch.argument")
        self.fields = (*self.fields, Field(start, word, value, size, align))
        self.size, self.align = start + size, max(self.align, align)

    def __repr__(self) -> str:
        return f"<Struct of {self.size} bytes>"

    def map(self, change: Callable[[Field], object]) -> Struct:
        """Return a copy in which the value of each field is `change(field)`."""
        made = Struct()
        made.fields = tuple(field._replace(value=change(field)) for field in self.fields)
        made.size, made.align, made.background = self.size, self.align, self.background
        return made


def is_table(value: object) -> TypeGuard[Sequence[object]]:
    """Return True for a list or tuple of arrays, tensor maps or structures, which is passed as a buffer.

    A list of arrays may also have None, a null pointer.
    """
    if not isinstance(value, (list, tuple)):
        return False
    items = cast("Sequence[object]", value)
    if any(map(is_array, items)):
        return all(item is None or is_array(item) for item in items)
    kinds = (TensorMap, Struct)
    return bool(items) and any(all(isinstance(item, kind) for item in items) for kind in kinds)


def _is_address(value: object) -> bool:
    """Return True for a value that is passed as an address."""
    return is_array(value) or is_table(value)


def _value_bytes(value: object) -> int:
    """Return the size of a TensorMap or a Struct in bytes, 0 for another value."""
    return TENSOR_MAP_BYTES if isinstance(value, TensorMap) else value.size if isinstance(value, Struct) else 0


def _field(value: object) -> tuple[str, object, int, int]:
    """Return the PTX type, value, size and alignment (in bytes) of a field of a structure."""
    if isinstance(value, TensorMap):
        return "b8", value, TENSOR_MAP_BYTES, TENSOR_MAP_ALIGN
    if isinstance(value, Struct):
        return "b8", value, value.size, value.align
    if isinstance(value, (bytes, bytearray)):
        return "b8", bytes(value), len(value), 1
    if is_scalar(value):
        return f"b{8 * value.itemsize}", value, value.itemsize, value.itemsize
    if value is None or _is_address(value):
        return POINTER, value, 8, 8
    pair = cast("tuple[object, ...]", value) if isinstance(value, tuple) else ()
    if len(pair) == 2 and (known := TYPES.get(str(pair[0]))) is not None and known.bytes:
        return known.name, pair[1], known.bytes, known.bytes
    raise UsageError(
        f"a field of a Struct is {value!r}; expected an array, None, a NumPy scalar, a TensorMap, bytes, "
        "another Struct, or a PTX type with a number, such as ('u32', 5)",
        code="launch.argument",
    )
