"""Data classes of `warploom.lazy_dataclass` behave as those of `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from inspect import get_annotations, signature
from itertools import product
from typing import Any, ClassVar

import pytest

from warploom import lazy_dataclass

FLAGS = [dict(zip(("frozen", "slots", "eq", "repr"), each, strict=True)) for each in product((False, True), repeat=4)]
DECORATORS = (dataclasses.dataclass, lazy_dataclass.dataclass)


class Base:
    kind: ClassVar[str] = "base"

    left: int
    hidden: int = field(default=5, init=False, repr=False, compare=False)


class Derived:
    right: str = "r"
    items: list[int] = field(default_factory=list[int])
    made: dict[str, int] = field(default_factory=dict[str, int], init=False, compare=False)

    def __post_init__(self) -> None:
        self.made["right"] = len(self.right)


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Pickled:
    """Class that `pickle` finds by its name."""

    one: int
    two: tuple[int, ...] = ()


def classes(decorator: Any, flags: dict[str, bool]) -> tuple[Any, Any]:
    """Return decorated copies of `Base` and of a class `Derived` that inherits from it."""
    members = {name: value for name, value in vars(Base).items() if name not in ("__dict__", "__weakref__")}
    base = decorator(**flags)(
        type("Base", (), members | {"hidden": field(default=5, init=False, repr=False, compare=False)})
    )
    own = {
        "__annotations__": get_annotations(Derived),
        "__module__": __name__,
        "__post_init__": Derived.__post_init__,
        "right": "r",
        "items": field(default_factory=list[int]),
        "made": field(default_factory=dict[str, int], init=False, compare=False),
    }
    return base, decorator(**flags)(type("Derived", (base,), own))


def outcome(action: Any) -> Any:
    """Return the result of a function, or the type of its exception."""
    try:
        return action()
    except (TypeError, AttributeError) as error:
        return type(error)


def behaviour(decorator: Any, flags: dict[str, bool]) -> list[Any]:
    """Return the results of the operations that data classes support."""
    base, derived = classes(decorator, flags)
    one, other = derived(1, "x"), derived(right="x", left=1)
    results = [
        [(each.name, each.init, each.compare) for each in dataclasses.fields(derived)],
        (one.left, one.hidden, one.right, one.items, one.made, derived.kind),
        one == other, one != other, one == base(1), one is other, one == derived(2),
        hasattr(one, "__dict__"), derived.__match_args__, base.__match_args__,
        outcome(lambda: derived(left=1, missing=2)), outcome(derived), outcome(lambda: derived(1, "x", [], {})),
        outcome(lambda: setattr(one, "left", 3)), outcome(lambda: delattr(other, "right")),
        dataclasses.replace(derived(1), right="long").made, copy.copy(derived(4, "y")).left,
        derived(1, "x", [2]).items, derived.__hash__ is None, derived.__hash__ is object.__hash__,
    ]  # fmt: skip
    if flags["repr"]:
        results.append(repr(derived(1, "x")))
    if flags["frozen"] and flags["eq"]:
        results += [outcome(lambda: hash(derived(1))), hash(base(1)) == hash(base(1))]
    return results


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_behaviour_is_that_of_dataclasses(flags: dict[str, bool]) -> None:
    expected, found = (behaviour(each, flags) for each in DECORATORS)
    assert found == expected


def test_frozen_instances_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Pickled(1, (2, 3)))) == Pickled(1, (2, 3))


def test_constructor_is_compiled_at_its_first_call() -> None:
    @lazy_dataclass.dataclass()
    class Sample:
        value: int = 7

    first = Sample.__init__
    assert Sample().value == 7
    assert Sample.__init__ is not first
    assert Sample(8).value == 8


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_signatures(flags: dict[str, bool]) -> None:
    """The signature is the same before and after the first call of the constructor."""
    expected, found = (classes(decorator, flags)[1] for decorator in DECORATORS)
    assert str(signature(found)) == str(signature(expected))
    found(1)
    assert str(signature(found)) == str(signature(expected))


def test_a_subclass_with_its_own_constructor() -> None:
    class Own(Pickled):
        def __init__(self, text: str) -> None:
            super().__init__(len(text))

    assert list(signature(Own).parameters) == ["text"]
