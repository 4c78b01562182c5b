"""Target and PTX version that an MLIR module states."""

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from warploom.isa.model.availability import Target, Version, is_version, read_target
from warploom.nvvm.errors import LowerError
from warploom.nvvm.mlir.llvm_values import items_of
from warploom.nvvm.mlir.metadata import parameters_of
from warploom.nvvm.mlir_text import ParsedModule


def stated_target(parsed: ParsedModule) -> tuple[Target | None, Version | None]:
    """Return the target and the PTX version of a module, each None if the module states none.

    Lifting writes the attributes `ptx.target` and `ptx.version`. A `gpu.module` has a list such as
    `[#nvvm.target<chip = "sm_80", features = "+ptx80">]`.

    Errors: LowerError lower.operation for an unknown target or version, and for several ones
    """
    targets: dict[Target, None] = {}
    versions: dict[Version, None] = {}
    for operation in parsed.module.walk():
        if operation.name not in ("builtin.module", "gpu.module"):
            continue
        for name, version in _statements(operation):
            if name:
                if (known := read_target(name)) is None:
                    raise _error(parsed, operation, f"states the unknown target '{name}'")
                targets[known] = None
            if version:
                number = tuple(map(int, version.split("."))) if re.fullmatch(r"\d{1,4}\.\d{1,4}", version) else ()
                if len(number) != 2 or not is_version(number):
                    raise _error(parsed, operation, f"states the unknown PTX version '{version}'")
                versions[number] = None
        if len(targets) > 1:
            names = " and ".join(each.name for each in targets)
            raise _error(parsed, operation, f"makes a choice of the target necessary: the module states {names}")
    return next(iter(targets), None), max(versions, default=None)


def _error(parsed: ParsedModule, operation: Operation, message: str) -> LowerError:
    hint = "the option --arch or the argument `target` replaces it"
    return LowerError([parsed.diagnostic(operation, f"'{operation.name}' {message}", hint=hint)])


def _statements(module: Operation) -> Iterator[tuple[str, str]]:
    """Yield pairs of a target and a PTX version, each "" if it is absent."""
    found = {**module.attributes, **module.properties}
    words = [each.data for each in items_of(found.get("ptx.target")) if isinstance(each, StringAttr)]
    # Other words are modes, such as texmode_independent.
    yield next((word for word in words if word.startswith(("sm_", "compute_"))), ""), ""
    if isinstance(version := found.get("ptx.version"), StringAttr):
        yield "", version.data
    for target in items_of(found.get("targets")):
        stated: dict[str, str] | list[str] = parameters_of(target)
        if str(target).startswith("#nvvm.target") and isinstance(stated, dict):
            chip, features = (str(stated.get(name, "")).strip('"') for name in ("chip", "features"))
            version = re.search(r"\+ptx(\d+)(\d)\b", features)
            yield chip, f"{version[1]}.{version[2]}" if version else ""
