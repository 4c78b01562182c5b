"""Data classes whose constructors are compiled at the first call.

`dataclasses.dataclass` compiles the source of up to eight methods when a class is defined, and most of them are never
called. With it, this took a third of the time to import Warploom.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from inspect import Parameter, Signature, get_annotations
from operator import attrgetter
from types import MemberDescriptorType
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

T = TypeVar("T")
_PLAIN: Any = vars(dataclasses)["_FIELD"]  # `dataclasses.replace` and `fields` need this mark in each `Field`
_FACTORY: Any = vars(dataclasses)["_HAS_DEFAULT_FACTORY"]  # shown as "<factory>"
_set = object.__setattr__


@dataclass_transform(field_specifiers=(Field, field))
def dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True
) -> Callable[[type[T]], type[T]]:
    """Return a decorator with the effect of `dataclasses.dataclass`.

    The functions `fields` and `replace` of `dataclasses` accept the classes. Keyword-only fields, `InitVar` and order
    comparisons are not supported.
    """
    return lambda cls: _decorated(cls, frozen, slots, eq, repr)


def _decorated(cls: Any, frozen: bool, slots: bool, eq: bool, shows: bool) -> Any:
    fields: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get("__dataclass_fields__", ()))
    annotations = get_annotations(cls)
    own = {name: each for name, kind in annotations.items() if (each := _field(cls, name, kind)) is not None}
    fields.update(own)
    if slots:
        cls = _with_slots(cls, own, fields)
    cls.__dataclass_fields__ = fields
    methods: dict[str, Any] = {"__match_args__": _names(fields, "init")}
    if "__init__" not in cls.__dict__:
        methods |= {"__init__": _initializer(cls, fields, frozen), "__signature__": _ConstructorSignature()}
    if shows:
        methods["__repr__"] = _repr
    if eq:
        methods |= _comparison(_names(fields, "compare"), frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    if frozen and slots:
        methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:  # a class with its own `__eq__` has the hash None
            setattr(cls, name, method)
    return cls


def _field(cls: Any, name: str, kind: Any) -> Field[Any] | None:
    """Return the field of an annotation, or None for a class variable."""
    if kind.startswith("ClassVar") if isinstance(kind, str) else getattr(kind, "__origin__", kind) is ClassVar:
        return None
    default: Any = cls.__dict__.get(name, MISSING)
    is_field = isinstance(default, Field)
    found = cast("Any", default if is_field else field(default=default))
    found.name, found.type, found._field_type, found.kw_only = name, kind, _PLAIN, False
    if is_field:
        if found.default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, found.default)
    return found


def _with_slots(cls: Any, own: dict[str, Any], fields: dict[str, Any]) -> Any:
    """Return a copy of a class with a slot for each of its own fields."""
    members: dict[str, Any] = {name: value for name, value in cls.__dict__.items() if name not in own}
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    inherited: set[str] = {name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())}
    members["__slots__"] = tuple(name for name in own if name not in inherited)
    copy = type(cls)(cls.__name__, cls.__bases__, members)
    copy.__qualname__ = cls.__qualname__
    return copy


def _names(fields: dict[str, Field[Any]], flag: str) -> tuple[str, ...]:
    return tuple(name for name, each in fields.items() if getattr(each, flag))


class _ConstructorSignature:
    """Descriptor for the signature of a constructor, which `inspect.signature` and `help` show."""

    def __get__(self, instance: object, owner: Any) -> Signature:
        if "__dataclass_fields__" not in owner.__dict__:
            raise AttributeError("the class may have another constructor than its base class")
        kind = Parameter.POSITIONAL_OR_KEYWORD
        fields: list[Field[Any]] = [each for each in owner.__dataclass_fields__.values() if each.init]
        return Signature(
            [Parameter(each.name, kind, default=_shown_default(each), annotation=each.type) for each in fields],
            return_annotation=None,
        )


def _shown_default(of: Field[Any]) -> object:
    if of.default_factory is not MISSING:
        return _FACTORY
    return Parameter.empty if of.default is MISSING else of.default


def _initializer(cls: Any, fields: dict[str, Field[Any]], frozen: bool) -> Any:
    def initialize(self: Any, *args: Any, **values: Any) -> None:
        initializer = _compiled(cls, fields, frozen)
        initializer.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = initializer
        initializer(self, *args, **values)

    return initialize


def _compiled(cls: Any, fields: dict[str, Field[Any]], frozen: bool) -> Any:
    """Return a constructor that assigns its parameters to the fields."""
    names: dict[str, Any] = {"_missing": MISSING}
    parameters, body = ["self"], ["pass"]
    for name, each in fields.items():
        value = name
        if each.default_factory is not MISSING:
            names[f"_make_{name}"] = each.default_factory
            value = f"_make_{name}()" + (f" if {name} is _missing else {name}" if each.init else "")
            parameters += [f"{name}=_missing"] if each.init else []
        elif each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            parameters += [f"{name}=_default_{name}"] if each.init else []
            value = name if each.init else f"_default_{name}"
        elif each.init:
            parameters.append(name)
        else:
            continue
        slot = getattr(cls, name, None)
        if frozen and isinstance(slot, MemberDescriptorType):  # faster than `object.__setattr__`
            names[f"_set_{name}"] = slot.__set__
            body.append(f"_set_{name}(self, {value})")
        elif frozen:
            names["_set"] = _set
            body.append(f"_set(self, {name!r}, {value})")
        else:
            body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), names)  # noqa: S102 - names of fields only
    return names["__init__"]


def _comparison(names: tuple[str, ...], frozen: bool) -> dict[str, Any]:
    key: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equals(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    return {"__eq__": equals, "__hash__": hashed if frozen else None}


def _repr(self: Any) -> str:
    fields = self.__dataclass_fields__.items()
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, each in fields if each.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__dataclass_fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__dataclass_fields__, state, strict=True):
        _set(self, name, value)
