"""The instructions of `author` without literal types, for kernels whose plan chooses the words."""

from __future__ import annotations

from typing import Any

from warploom import author

ptx: Any = author.ptx
