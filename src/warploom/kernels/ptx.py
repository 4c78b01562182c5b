"""Instructions of `author` as `Any`, for kernels whose plan chooses types and other words at run time."""

from typing import Any

from warploom import author

ptx: Any = author.ptx
