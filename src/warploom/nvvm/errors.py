"""Errors of lowering."""

import re
from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec

from warploom.diagnostics import Diagnostic, UsageError, WarploomError

_LONGEST_WORD = 200
_LONGEST_MESSAGE = 2000


class LowerError(WarploomError):
    """Text that cannot be lowered. The diagnostics point to the operations at fault."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        super().__init__(replace(each, message=shortened(each.message)) for each in diagnostics)


def shortened(message: str) -> str:
    """Return a message in which long words, and the end of a long text, are replaced by `…`."""
    message = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda found: f"{found[0][:50]}…{found[0][-10:]}", message)
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"


def require_xdsl() -> None:
    """Raise UsageError lower.packages if xDSL or pycparser is not installed."""
    if find_spec("xdsl") is None or find_spec("pycparser") is None:
        raise UsageError(
            "lowering needs xDSL, which parses and prints MLIR, and pycparser, which parses CUDA C",
            code="lower.packages",
            hint="pip install 'warploom[mlir]'",
        )
