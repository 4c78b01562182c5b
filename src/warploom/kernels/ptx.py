"""Instructions of `author` as `Any`, for kernels whose plan chooses types and other words at run time."""

from __future__ import annotations

from typing import Any

from warploom import author

ptx: Any = author.ptx
