"""Instruction functions of `author`, typed as `Any` because plans choose types and modifiers."""

from typing import Any

from warploom import author

ptx: Any = author.ptx
