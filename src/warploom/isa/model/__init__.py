"""Model of an instruction: the Form, its operands, effects and semantics protocol."""

from __future__ import annotations
