"""Conversion of results to JSON data and back. Decoding evaluates no code."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

_NUMBER_KINDS = "biuf"


def encode(value: Any) -> Any:
    """Return the JSON data of a value: a number, text, numeric array, tuple, list, or dataclass of these."""
    if isinstance(value, np.ndarray):
        array = cast("NDArray[Any]", value)
        content = b64encode(array.tobytes()).decode()
        return {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": content}
    if is_dataclass(value):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in cast("list[Any]", value)]
    return value


def decode(kind: Any, data: Any) -> Any:
    """Return the value of type `kind` that `encode` encoded as `data`.

    Errors: TypeError, ValueError or KeyError if the data does not describe such a value.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        if data not in arguments:
            raise ValueError(f"found {data!r}, expected one of {arguments}")
        return data
    if origin in (Union, UnionType):
        if data is None and NoneType in arguments:
            return None
        (alternative,) = (argument for argument in arguments if argument is not NoneType)
        return decode(alternative, data)
    if origin in (np.ndarray, NDArray):  # which of the two depends on NumPy's version
        return _decode_array(data)
    if origin in (tuple, list):
        if not isinstance(data, list):
            raise TypeError(f"found {data!r}, expected a list")
        items = cast("list[Any]", data)
        if origin is list or (len(arguments) == 2 and arguments[1] is Ellipsis):
            decoded = [decode(arguments[0], item) for item in items]
            return decoded if origin is list else tuple(decoded)
        return tuple(decode(argument, item) for argument, item in zip(arguments, items, strict=True))
    if is_dataclass(kind):
        hints = _field_types(cast("type[Any]", kind))
        if not isinstance(data, dict) or len(cast("dict[str, Any]", data)) != len(hints):
            raise TypeError(f"found {data!r}, expected the fields of {kind}")
        named = cast("Mapping[str, Any]", data)
        return cast("type[Any]", kind)(**{name: decode(hint, named[name]) for name, hint in hints.items()})
    return expect_type(kind, data)


def expect_type(kind: Any, value: Any) -> Any:
    """Return the value. Raise TypeError if its type is not exactly `kind`."""
    if type(value) is not kind:
        raise TypeError(f"found {value!r}, expected {kind.__name__}")
    return value


@cache
def _field_types(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _decode_array(data: Any) -> NDArray[Any]:
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in _NUMBER_KINDS:
        raise TypeError(f"found an array of {dtype}, expected an array of numbers")
    content = b64decode(data["bytes"], validate=True)
    return np.frombuffer(content, dtype).reshape(data["shape"]).copy()
