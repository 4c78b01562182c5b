"""Check of the header of a module: its PTX version, target and address size.

Source: PTX ISA 11.1
"""

from collections.abc import Iterator, Mapping
from functools import partial

from warploom.check.report import error, warning
from warploom.diagnostics import Diagnostic, UsageError
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.model.availability import (
    FIRST_VERSION,
    Target,
    Version,
    is_version,
    latest_version,
    read_target,
    renamed,
)
from warploom.ptx import Directive, Module

HEADER_ITEMS = 2
"""Number of items that a module must begin with to be checked: `.version` and `.target`."""

_MODES = frozenset({"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"})
_DEFAULT_TARGET = "sm_90a"


def find_target(name: str) -> Target:
    """Return the target that has a name such as "sm_90a". Errors: UsageError for an unknown target."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
        raise UsageError(f"target is {name!r}; expected a name such as 'sm_90a'", code="check.target")
    target = read_target(name)
    if target is None:
        hint = did_you_mean(name.lower(), FIRST_VERSION) or "expected a name such as sm_90a"
        raise UsageError(f"unknown target {name!r}", code="check.target", hint=hint)
    return target


def find_version(version: str | tuple[int, int]) -> Version:
    """Return the PTX version that is given as "8.7" or (8, 7). Errors: UsageError if it is unknown."""
    numbers = version
    if isinstance(numbers, str):
        major, _, minor = numbers.partition(".")
        is_number = major.isdecimal() and minor.isdecimal() and len(numbers) < 10
        numbers = (int(major), int(minor)) if is_number else None
    if not isinstance(numbers, tuple) or [type(each) for each in numbers] != [int, int]:
        message = f"the PTX version is {version!r}; expected a string such as '8.7' or a pair such as (8, 7)"
        raise UsageError(message, code="check.ptx-version")
    if not is_version(numbers):
        message = f"unknown PTX version {version!r}; the latest known is {_dotted(latest_version())}"
        raise UsageError(message, code="check.ptx-version")
    return numbers


def check_header(
    module: Module, target: Target | None, ptx: Version | None
) -> tuple[Target, Version, list[Diagnostic]]:
    """Return the target and PTX version of a module, and the diagnostics for its header.

    `target` and `ptx`, if not None, replace those that the module states.
    """
    directives = {item.name: item for item in module.items[:3] if isinstance(item, Directive)}
    found: list[Diagnostic] = []
    if ptx is None:
        ptx = module.version
        if not is_version(ptx):
            message = f"unknown PTX version {_dotted(ptx)}; the latest known is {_dotted(latest_version())}"
            found.append(error("module/version", message, directives.get(".version"), section="PTX ISA 11.1.1"))
            ptx = latest_version()
    if target is None:
        target, problems = _check_target(directives.get(".target"), ptx)
        found += [*problems, *_check_address_size(module, directives, ptx)]
    return target, ptx, found


def _check_target(directive: Directive | None, ptx: Version) -> tuple[Target, list[Diagnostic]]:
    words = directive.names if directive is not None else ()
    fault = partial(error, node=directive, section="PTX ISA 11.1.2")
    found: list[Diagnostic] = []
    target: Target | None = None
    for word in words:
        known = read_target(word)
        target = known or target
        if known is None and word not in _MODES:
            hint = did_you_mean(word, FIRST_VERSION)
            found.append(fault("module/target", f"unknown target '{word}'", hint=hint))
    if target is None:
        if not found:
            found.append(fault("module/target", "no target architecture is given; expected one such as sm_90a"))
        target = read_target(_DEFAULT_TARGET)
        assert target is not None
        return target, found
    if ptx < target.first_version:
        first = _dotted(target.first_version)
        message = f"{target.name} needs PTX {first} or later; the text is PTX {_dotted(ptx)}"
        found.append(fault("module/version", message))
    elif new := renamed(target, ptx):
        message = f"{target.name} is called {new} since PTX 9.0"
        found.append(warning("module/renamed-target", message, directive, section="PTX ISA 11.1.2"))
    if "map_f64_to_f32" in words and target.number >= 13:
        found.append(fault("module/target", "map_f64_to_f32 is for targets below sm_13"))
    return target, found


def _check_address_size(module: Module, directives: Mapping[str, Directive], ptx: Version) -> Iterator[Diagnostic]:
    directive = directives.get(".address_size")
    if directive is None:
        return
    fault = partial(error, "module/address-size", node=directive, section="PTX ISA 11.1.3")
    if ptx < (2, 3):
        yield fault(f".address_size needs PTX 2.3; the text is PTX {_dotted(ptx)}")
    if module.address_size == 32:
        yield fault("ptxas 12.9 and later do not support 32-bit addresses; expected .address_size 64")


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
