"""Errors of lowering."""

from importlib.util import find_spec

from warploom.diagnostics import UsageError, WarploomError


class LowerError(WarploomError):
    """Text that cannot be lowered. The diagnostics point to the operations at fault."""


def require_xdsl() -> None:
    """Raise UsageError lower.packages if xDSL or pycparser is not installed."""
    if find_spec("xdsl") is None or find_spec("pycparser") is None:
        raise UsageError(
            "lowering needs xDSL, which parses and prints MLIR, and pycparser, which parses CUDA C",
            code="lower.packages",
            hint="pip install 'warploom[mlir]'",
        )
