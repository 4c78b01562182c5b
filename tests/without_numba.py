"""Plugin of pytest (`-p without_numba`) under which Numba, llvmlite, ml-dtypes and pycxxfilt are not installed."""

import sys

ABSENT = ("numba", "llvmlite", "ml_dtypes", "pycxxfilt")

for name in ABSENT:
    sys.modules[name] = None  # type: ignore[assignment]  # the import system takes it for a missing module
