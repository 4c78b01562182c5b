"""Functions that an earlier process compiled with Numba, loaded without Numba.

An entry of the cache contains the machine code of one function for several signatures. Its key is a digest of the
function, of everything that the function uses, and of the processor and the compiler.
"""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from warploom.caches import Store
from warploom.lazy_dataclass import dataclass
from warploom.numerics._numba import binding as llvm

TABLE = ".table"
"""End of the symbol of the table of Python objects that a function uses."""

NATIVE = ".native"
"""End of the symbol of a function for native callers."""

FAILED = -(1 << 63)
"""Result of a function for native callers if the compiled function raises an exception."""

_CAPACITY = 256 << 20
_LENGTH = 8
_FAST_CALL = 0x80  # METH_FASTCALL
_STORE = Store("functions", _CAPACITY)
_OBJECTS = {"none": None, "true": True, "false": False}
_TYPES: dict[str, type[Any]] = {each.__name__: each for each in (np.ndarray, int, bool, float, tuple, RuntimeError)}


@dataclass(frozen=True, slots=True)
class Stored:
    """Machine code for one signature of a function.

    `name` is the symbol of the function that Python calls. The code reads the addresses of Python objects from a table.
    `symbols` names these objects in the order of the table. `needed` lists the external functions that the code calls.
    """

    name: str
    symbols: tuple[str, ...]
    needed: tuple[str, ...]
    code: bytes


@cache
def host() -> str:
    """Return a text that identifies everything outside a function that determines its machine code."""
    import llvmlite

    numba = find_spec("numba")
    assert numba is not None
    assert numba.origin is not None
    # The file tells versions of Numba apart. The version itself is in files that take longer to read.
    installed = f"{numba.origin} {Path(numba.origin).stat().st_mtime_ns}"
    processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    folder = Path(__file__).parent
    code = sha256(b"".join((folder / name).read_bytes() for name in ("_export.py", "_stored.py"))).hexdigest()
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    return f"{code} {python} {installed} {llvmlite.__version__} {np.__version__} {processor}"


def read(key: str) -> list[Stored]:
    """Return the signatures that the cache has for a key."""
    entry = _STORE.read(key)
    if entry is None:
        return []
    start = _LENGTH + int.from_bytes(entry[:_LENGTH], "little")
    found: list[Stored] = []
    for name, symbols, needed, size in json.loads(entry[_LENGTH:start]):
        found.append(Stored(name, tuple(symbols), tuple(needed), entry[start : start + size]))
        start += size
    return found


def write(key: str, signatures: Sequence[Stored]) -> None:
    """Store signatures for a key in the cache."""
    header = json.dumps([(each.name, each.symbols, each.needed, len(each.code)) for each in signatures]).encode()
    codes = b"".join(each.code for each in signatures)
    _STORE.write(key, len(header).to_bytes(_LENGTH, "little") + header + codes)


def is_available(function: str) -> bool:
    """Return True if machine code can call the external function with this name."""
    _engine()  # LLVM finds the functions of the process when an engine exists
    return llvm.address_of_symbol(function) is not None


def load(stored: Stored, call: Callable[..., Any], find: Callable[..., int]) -> tuple[Callable[..., Any], ...]:
    """Return two Python functions for one signature.

    The first function executes the machine code. The second function returns the address of the machine code for native
    callers. If the types of the arguments differ from the signature, the first function calls `call`, and the second
    function calls `find`.
    """
    engine, address = _engine(), load_function(stored.name, stored.code)
    objects = [call if each == "fallback" else _object(each) for each in stored.symbols]
    table = (ctypes.c_void_p * len(objects)).from_address(engine.get_global_value_address(stored.name + TABLE))
    table[:] = [id(each) for each in objects]
    method = _Method(b"compiled", address, _FAST_CALL, None)
    _KEPT.append((objects, method))
    start = ctypes.addressof(method)
    return _new_function(start, None, None), _new_function(start, id(find), None)


def native_address(stored: Stored) -> int:
    """Return the address of the function for native callers of a signature that has been loaded."""
    return int(_engine().get_function_address(stored.name + NATIVE))


def load_function(name: str, code: bytes) -> int:
    """Load an object file unless it is loaded, and return the address of its function `name`."""
    engine = _engine()
    if name not in _LOADED:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _LOADED.add(name)
    return int(engine.get_function_address(name))


def _object(symbol: str) -> Any:
    kind, _, name = symbol.partition(":")
    match kind:
        case "type":
            return _TYPES[name]
        case "scalar":
            return np.dtype(name).type
        case "class":
            module, _, name = name.partition(":")
            return getattr(sys.modules[module], name)
        case _:
            return _OBJECTS[symbol]


class _Method(ctypes.Structure):
    """`PyMethodDef` of the Python C API."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("about", ctypes.c_char_p),
    )


_LOADED: set[str] = set()
"""Names of the functions whose code is in memory."""
_KEPT: list[tuple[Any, _Method]] = []
"""Objects to which machine code refers."""

_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine(level: int = 3) -> Any:
    """Return the LLVM target machine of the host for compilation to memory.

    `level` is the level of optimisation, from 0 to 3.
    """
    _initialize()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level, jit=True)


@cache
def _engine() -> Any:
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_default_triple()
    return llvm.create_mcjit_compiler(empty, target_machine())
