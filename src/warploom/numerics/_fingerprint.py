"""Digests of functions, for the cache of their machine code."""

# An object may be of any type.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_CODE = (FunctionType, staticmethod, classmethod, property)
_CONSTANTS = (int, float, str, tuple, dict)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class UnidentifiedObject(Exception):
    """Exception for an object whose contents are unknown."""


def fingerprint(function: object) -> str:
    """Return a digest of a function and of all functions, classes and constants that it uses.

    Errors: UnidentifiedObject
    """
    return sha256("\n".join(_describe(function, set())).encode()).hexdigest()


def _describe(item: Any, seen: set[int]) -> Iterator[str]:
    """Yield texts that identify an object.

    `seen` contains the `id` of each function and class that is already described.
    """
    match item:
        case FunctionType() | type():
            yield f"{item.__module__}.{item.__qualname__}"
            if id(item) not in seen and _is_own(item.__module__):
                seen.add(id(item))
                yield from _function(item, seen) if isinstance(item, FunctionType) else _class(item, seen)
        case CodeType():
            yield f"{item.co_code.hex()} {item.co_names} {item.co_varnames} {item.co_freevars} {item.co_argcount}"
            yield from _items(item.co_consts, seen)
        case np.ndarray():
            array = cast("NDArray[Any]", item)
            yield f"{array.dtype.str} {array.shape} {array.tobytes().hex()}"
        case tuple() | list():
            yield f"{type(item).__qualname__} {len(item)}"
            yield from _items(item, seen)
        case dict():
            yield f"dict {len(item)}"
            yield from _items((part for pair in item.items() for part in pair), seen)
        case frozenset() | set():
            yield f"set {sorted(map(repr, item))}"
        case ModuleType() | BuiltinFunctionType() | MethodDescriptorType() | np.ufunc():
            yield f"{type(item).__qualname__} {item.__name__}"
        case staticmethod() | classmethod():
            yield from _describe(item.__func__, seen)
        case property():
            yield from _items((item.fget, item.fset), seen)
        # A compiled function, or a function with a cache of its results.
        case _ if isinstance(function := _attributes(item).get("function"), FunctionType):
            yield f"{type(item).__qualname__} {_attributes(item).get('inline')}"
            yield from _describe(function, seen)
        case _ if isinstance(function := _attributes(item).get("__wrapped__"), FunctionType):
            yield from _describe(function, seen)
        case _:
            text = repr(item)
            if _ADDRESS.search(text):
                raise UnidentifiedObject(text)
            yield f"{type(item).__qualname__} {text}"


def _attributes(item: object) -> dict[str, Any]:
    return getattr(item, "__dict__", {})


def _items(items: Any, seen: set[int]) -> Iterator[str]:
    for item in items:
        yield from _describe(item, seen)


def _function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _describe(function.__code__, seen)
    yield from _items((function.__defaults__, function.__kwdefaults__), seen)
    yield from _items((cell.cell_contents for cell in function.__closure__ or ()), seen)
    known = function.__globals__
    for name in sorted(_names(function.__code__) & known.keys()):
        yield name
        yield from _describe(known[name], seen)


def _class(kind: type, seen: set[int]) -> Iterator[str]:
    yield from _items(kind.__bases__, seen)
    for name, member in sorted(vars(kind).items()):
        if isinstance(member, _CODE) or (not name.startswith("__") and isinstance(member, _CONSTANTS)):
            yield name
            yield from _describe(member, seen)


def _names(code: CodeType) -> set[str]:
    """Return the names that a function uses, including its nested functions."""
    return {*code.co_names}.union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _is_own(module: str) -> bool:
    return not module.startswith(("numba", "llvmlite", "numpy", "builtins", "dataclasses", "typing"))
