"""Signature of a kernel: its entry, its parameters and its directives."""

from collections.abc import Collection
from functools import cached_property

from warploom.diagnostics import UsageError
from warploom.diagnostics.symbols import readable_name
from warploom.isa.model.parameters import Parameter, parameter_block
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Function, Module


@dataclass(frozen=True)
class Signature:
    """Name, parameters and directives of a kernel."""

    module: Module
    entry: Function
    parameters: tuple[Parameter, ...]

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.entry.name

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Target of the kernel's module and its options, such as `("sm_90a", "debug")`."""
        return self.module.target

    @cached_property
    def _directives(self) -> dict[str, tuple[int, ...]]:
        return {each.name: each.ints for each in reversed(self.entry.directives)}  # the first one counts

    def directive(self, name: str) -> tuple[int, ...] | None:
        """Return the integer arguments of a directive of the kernel, or None if the directive is absent."""
        return self._directives.get(name)

    def extents(self, name: str) -> tuple[int, int, int] | None:
        """Return the x, y and z extents of a directive such as `.reqntid`, or None if the directive is absent."""
        found = self.directive(name)
        if found is None:
            return None
        x, y, z = (*found, 1, 1)[:3]
        return x, y, z


def read_signature(module: Module, name: str | None = None) -> Signature:
    """Return the signature of the kernel with this name, or of the module's only kernel.

    `name` and the errors are those of `kernel_name`.
    """
    entries = {f.name: f for f in module.functions.values() if f.kind == "entry" and f.body is not None}
    entry = entries[kernel_name(entries, name)]
    return Signature(module, entry, parameter_block(entry.params))


def kernel_name(kernels: Collection[str], name: str | None = None) -> str:
    """Return the name of one of the kernels of a module: the kernel with this name, or the only kernel.

    A mangled name may be given in its readable form, such as `demo::rotate<float, 128>`, if only one kernel has it.

    Errors: UsageError with the code emulator.kernel for an unknown name. Without a name, the module must have exactly
    one kernel.
    """
    if name is not None and name in kernels:
        return name
    readable = {readable_name(each): each for each in kernels}
    is_unique = len(readable) == len(kernels)
    known = ", ".join(readable if is_unique else kernels)
    if name is None:
        if len(kernels) != 1:
            found = f"{len(kernels)} kernels ({known}); expected the name of one" if kernels else "no kernel"
            raise UsageError(f"the module has {found}", code="emulator.kernel")
        return next(iter(kernels))
    if not is_unique or name not in readable:
        raise UsageError(f"unknown kernel '{name}'; the module has {known or 'none'}", code="emulator.kernel")
    return readable[name]
