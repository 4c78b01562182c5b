"""xDSL, which is an extra and is imported when MLIR text is asked for."""

from __future__ import annotations

from importlib.util import find_spec

from warploom.diagnostics import UsageError


def need_xdsl() -> None:
    """Errors: UsageError lower.packages where xDSL is not installed."""
    if find_spec("xdsl") is None:
        raise UsageError(
            "lowering needs xDSL, which reads and prints MLIR",
            code="lower.packages",
            hint="pip install 'warploom[mlir]'",
        )
