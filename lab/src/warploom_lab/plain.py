"""Results as plain data, and back: what JSON has, and nothing that is evaluated when it is read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

_NUMBERS = "biuf"  # kinds of arrays


def plain(value: Any) -> Any:
    """Plain data of a number, a text, an array of numbers, a tuple, or a dataclass of such: of that all its fields."""
    if isinstance(value, np.ndarray):
        array = cast("NDArray[Any]", value)
        held = b64encode(array.tobytes()).decode()
        return {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": held}
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(each) for each in cast("list[Any]", value)]
    return value


def of_plain(kind: Any, data: Any) -> Any:
    """The value of a type that plain data says. Errors: TypeError, ValueError, KeyError where it says none."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _one_of(data, arguments)
    if origin in (Union, UnionType):
        if data is None and NoneType in arguments:
            return None
        (some,) = (each for each in arguments if each is not NoneType)
        return of_plain(some, data)
    if origin in (np.ndarray, NDArray):  # which of the two depends on NumPy's version
        return _array(data)
    if origin in (tuple, list):
        if not isinstance(data, list):
            raise TypeError(f"found {data!r}, expected a list")
        held = cast("list[Any]", data)
        if origin is list or (len(arguments) == 2 and arguments[1] is Ellipsis):
            alike = [of_plain(arguments[0], each) for each in held]
            return alike if origin is list else tuple(alike)
        return tuple(of_plain(each, item) for each, item in zip(arguments, held, strict=True))
    if is_dataclass(kind):
        hints = _hints(cast("type[Any]", kind))
        if not isinstance(data, dict) or len(cast("dict[str, Any]", data)) != len(hints):
            raise TypeError(f"found {data!r}, expected the fields of {kind}")
        named = cast("Mapping[str, Any]", data)
        return cast("type[Any]", kind)(**{name: of_plain(each, named[name]) for name, each in hints.items()})
    if type(data) is not kind:
        raise TypeError(f"found {data!r}, expected {kind.__name__}")
    return data


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    every = get_type_hints(kind)
    return {each.name: every[each.name] for each in fields(kind)}


def _one_of(data: Any, values: tuple[Any, ...]) -> Any:
    if data not in values:
        raise ValueError(f"found {data!r}, expected one of {values}")
    return data


def _array(data: Any) -> NDArray[Any]:
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in _NUMBERS:
        raise TypeError(f"found an array of {dtype}, expected one of numbers")
    held = b64decode(data["bytes"], validate=True)
    return np.frombuffer(held, dtype).reshape(data["shape"]).copy()
