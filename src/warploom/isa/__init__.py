"""The instructions: one file per family. Importing the package declares every form."""

from __future__ import annotations

from warploom.isa import (
    approximate,  # noqa: F401
    bits,  # noqa: F401
    compare,  # noqa: F401
    convert,  # noqa: F401
    floating,  # noqa: F401
    half,  # noqa: F401
    integer,  # noqa: F401
    logic,  # noqa: F401
    matrix,  # noqa: F401
    mma,  # noqa: F401
    move,  # noqa: F401
    sparse,  # noqa: F401
    wgmma,  # noqa: F401
    wmma,  # noqa: F401
)
