"""The head of a module: its PTX version, its target, its address size."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.check.found import Found, error, warning
from warploom.diagnostics import UsageError
from warploom.isa.model.availability import (
    Target,
    Version,
    is_version,
    latest_version,
    read_target,
    renamed,
    similar_target,
)
from warploom.ptx import Directive, Module

HEAD = 2
"""Items that a module begins with and without which nothing can be judged: .version and .target."""

_MODES = frozenset({"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"})
_FALLBACK = "sm_90a"


def asked_target(name: str) -> Target:
    """The target a caller names. Errors: UsageError where there is none of that name."""
    target = read_target(name)
    if target is None:
        like = similar_target(name)
        hint = f"did you mean {like}?" if like else "targets are named sm_90a and the like"
        raise UsageError(f"there is no target {name!r}", code="check.target", hint=hint)
    return target


def asked_version(version: str | tuple[int, int]) -> Version:
    """The PTX version a caller names, "8.7" or (8, 7). Errors: UsageError where there is none of that
    number.
    """
    if isinstance(version, str):
        major, _, minor = version.partition(".")
        numbers = (
            (int(major), int(minor))
            if major.isdecimal() and minor.isdecimal() and len(version) < 10
            else (0, 0)
        )
    else:
        numbers = version
    if not is_version(numbers):
        latest = ".".join(map(str, latest_version()))
        message = f"there is no PTX version {version!r}; the latest known is {latest}"
        raise UsageError(message, code="check.ptx-version")
    return numbers


def head(module: Module, target: Target | None, ptx: Version | None) -> tuple[Target, Version, list[Found]]:
    """Target and version that a module is judged by, and what is wrong with those it names."""
    directives = {item.name: item for item in module.items[:3] if isinstance(item, Directive)}
    found = list(_version(module, directives)) if ptx is None else []
    judged_ptx = ptx or (module.version if is_version(module.version) else latest_version())
    if target is not None:
        return target, judged_ptx, found
    named, problems = _target(directives, judged_ptx)
    found += problems
    found += _address_size(module, directives, judged_ptx)
    return named, judged_ptx, found


def _version(module: Module, directives: dict[str, Directive]) -> Iterator[Found]:
    if not is_version(module.version):
        major, minor = module.version
        latest = ".".join(map(str, latest_version()))
        yield error(
            "module/version",
            f"there is no PTX version {major}.{minor}; the latest known is {latest}",
            directives.get(".version"),
            section="PTX ISA 11.1.1",
        )


def _target(directives: dict[str, Directive], ptx: Version) -> tuple[Target, list[Found]]:
    directive = directives.get(".target")
    words = directive.names if directive is not None else ()
    found: list[Found] = []
    target: Target | None = None
    for word in words:
        known = read_target(word)
        target = known or target
        if known is None and word not in _MODES:
            like = similar_target(word)
            hint = f"did you mean {like}?" if like else ""
            found.append(
                error(
                    "module/target", f"there is no target '{word}'", directive, hint, section="PTX ISA 11.1.2"
                )
            )
    if target is None:
        if not found:
            message = "no architecture is named; expected one such as sm_90a"
            found.append(error("module/target", message, directive, section="PTX ISA 11.1.2"))
        fallback = read_target(_FALLBACK)
        assert fallback is not None
        return fallback, found
    if ptx < target.first_version:
        first = ".".join(map(str, target.first_version))
        message = f"{target.name} needs PTX {first} or later; the text is PTX {ptx[0]}.{ptx[1]}"
        found.append(error("module/version", message, directive, section="PTX ISA 11.1.2"))
    elif new := renamed(target, ptx):
        message = f"{target.name} is called {new} since PTX 9.0"
        found.append(warning("module/renamed-target", message, directive, section="PTX ISA 11.1.2"))
    if "map_f64_to_f32" in words and target.number >= 13:
        message = "map_f64_to_f32 is for targets below sm_13"
        found.append(error("module/target", message, directive, section="PTX ISA 11.1.2"))
    return target, found


def _address_size(module: Module, directives: dict[str, Directive], ptx: Version) -> Iterator[Found]:
    directive = directives.get(".address_size")
    if directive is None:
        return
    if ptx < (2, 3):
        message = f".address_size needs PTX 2.3; the text is PTX {ptx[0]}.{ptx[1]}"
        yield error("module/address-size", message, directive, section="PTX ISA 11.1.3")
    if module.address_size == 32:
        message = (
            "addresses of 32 bits are no longer supported by ptxas 12.9 and later; expected .address_size 64"
        )
        yield error("module/address-size", message, directive, section="PTX ISA 11.1.3")
