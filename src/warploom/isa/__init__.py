"""The instructions: one file per family. Importing the package declares every form."""

from __future__ import annotations

from warploom.isa import (
    approximate,  # noqa: F401
    async_copy,  # noqa: F401
    atomic,  # noqa: F401
    barrier,  # noqa: F401
    bits,  # noqa: F401
    bulk,  # noqa: F401
    compare,  # noqa: F401
    control,  # noqa: F401
    convert,  # noqa: F401
    floating,  # noqa: F401
    half,  # noqa: F401
    integer,  # noqa: F401
    logic,  # noqa: F401
    mbarrier,  # noqa: F401
    memory,  # noqa: F401
    move,  # noqa: F401
    tensor,  # noqa: F401
    tensormap,  # noqa: F401
    warp,  # noqa: F401
)
