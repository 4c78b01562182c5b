"""Native functions that this process has loaded, and their cache on disk.

The cache contains object files with several functions each, and an index, which has the object file of each function.
Kernels share functions, so a kernel that is new often needs no compilation.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from warploom.caches import Store
from warploom.emulator.native.operands import OperandTable, UnsupportedOperand, outline
from warploom.emulator.native.wanted import Wanted
from warploom.emulator.times import Times
from warploom.isa.model.form import Form
from warploom.numerics._numba import binding as llvm
from warploom.numerics._stored import host, target_machine

_STORE = Store("native", 256 << 20)
_SOURCES = ("isa", "numerics", "layout", "emulator/native")
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_SCHEDULE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
REPORT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
"""Type of the function that native code calls for events (see `context.Moment`)."""
_RUNTIME = "runtime"


class Library:
    """Native functions that this process has loaded."""

    def __init__(self, times: Times) -> None:
        began = perf_counter()
        empty = llvm.parse_assembly("")
        empty.triple = llvm.get_default_triple()
        self._engine: Any = llvm.create_mcjit_compiler(empty, target_machine(1))
        self._lock = Lock()  # launches in several threads may need functions at the same time
        self._version = _version()
        self._index = self._read_index()
        self._loaded: set[str] = set()
        self._wanted: dict[tuple[Form, str, tuple[object, ...]], Wanted | None] = {}
        is_loaded, loaded = self._load(_RUNTIME), perf_counter()
        times.load += loaded - began
        if not is_loaded:
            from warploom.emulator.native.compiler import compile_runtime

            self._keep(_RUNTIME, compile_runtime())
            times.compile += perf_counter() - loaded
        self.run: Callable[..., int] = _RUN(self.address("warploom.run"))
        self.schedule: Callable[..., int] = _SCHEDULE(self.address("warploom.schedule"))

    def address(self, function: str) -> int:
        """Return the address of a loaded function."""
        return int(self._engine.get_function_address(function))

    def describe(self, form: Form, operands: SimpleNamespace, arch: str) -> tuple[Wanted, list[Any]] | None:
        """Return the native function that a linked instruction needs, and the values of its operand records.

        Return None if native functions cannot read or write one of the operands.
        """
        key, values = outline(operands)
        known = form, arch, key
        if known not in self._wanted:
            try:
                names = OperandTable.of(operands).names
            except UnsupportedOperand:
                self._wanted[known] = None
            else:
                text = f"{form.name} {arch} {sorted(vars(names).items(), key=lambda pair: pair[0])}"
                name = f"{form.name}.{sha256(text.encode()).hexdigest()[:16]}"
                self._wanted[known] = Wanted(name, form, names, arch)
        wanted = self._wanted[known]
        return None if wanted is None else (wanted, values)

    def kind(self, function: str) -> str:
        """Return the kind of a function that has been required (see `compiler.compile_functions`)."""
        return self._index[function][1]

    def require(self, wanted: Mapping[str, Wanted], times: Times) -> None:
        """Load native functions from the cache, or compile them. `wanted` has the functions by name.

        Add the time and the numbers of these functions to `times`.
        """
        began = perf_counter()  # the time also contains the wait for another thread
        with self._lock:
            absent = {name: each for name, each in wanted.items() if not self._is_loaded(name)}
            missing = {name: each for name, each in absent.items() if not self._has(name)}
            loaded = perf_counter()
            times.load += loaded - began
            times.loaded += len(absent) - len(missing)
            if missing:
                self._compile(missing)
                times.compile += perf_counter() - loaded
                times.compiled += len(missing)

    def _compile(self, missing: Mapping[str, Wanted]) -> None:
        from warploom.emulator.native.compiler import compile_functions

        code, kinds = compile_functions(missing.values())
        entry = sha256("\n".join(sorted(missing)).encode()).hexdigest()
        self._keep(entry, code)
        # Other processes may have added functions in the meantime.
        self._index = self._read_index() | self._index | {name: (entry, kind) for name, kind in kinds.items()}
        _STORE.write(f"{self._version}-index", json.dumps(self._index).encode())

    def _is_loaded(self, function: str) -> bool:
        """Return True if a function is loaded, or is known to have no native code."""
        entry, kind = self._index.get(function, ("", ""))
        return kind == "none" or entry in self._loaded

    def _has(self, function: str) -> bool:
        """Load a function from the cache if it is not loaded. Return False if it must be compiled."""
        entry, kind = self._index.get(function, ("", ""))
        return kind == "none" or (kind != "" and self._load(entry))

    def _load(self, entry: str) -> bool:
        if entry in self._loaded:
            return True
        code = _STORE.read(f"{self._version}-{entry}")
        if code is None:
            return False
        self._add(entry, code)
        return True

    def _keep(self, entry: str, code: bytes) -> None:
        _STORE.write(f"{self._version}-{entry}", code)
        self._add(entry, code)

    def _add(self, entry: str, code: bytes) -> None:
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._loaded.add(entry)

    def _read_index(self) -> dict[str, tuple[str, str]]:
        found = _STORE.read(f"{self._version}-index")
        return {} if found is None else {name: (entry, kind) for name, (entry, kind) in json.loads(found).items()}


def _version() -> str:
    """Return a digest of the CPU, the compilers, and the files that determine native functions."""
    package = Path(__file__).parents[2]
    files = [
        f"{folder}/{name}"
        for source in _SOURCES
        for folder, _, names in os.walk(package / source)
        for name in names
        if name.endswith((".py", ".npz"))
    ]
    stats = [(name, os.stat(name)) for name in sorted(files)]  # noqa: PTH116 - several times as fast as `Path.stat`
    text = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return sha256(f"{host()}\n{text}".encode()).hexdigest()[:16]


def library(times: Times) -> Library:
    """Return the native functions of this process. Add the time of their first load to `times`."""
    with _creation:
        if not _libraries:
            _libraries.append(Library(times))
        return _libraries[0]


_libraries: list[Library] = []
_creation = Lock()  # two threads may need the first result at the same time
