"""Compilation of native functions, and their cache on disk."""

# llvmlite has no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from warploom.emulator.native.runtime import add_runtime

_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_SCHEDULE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


@cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=1, jit=True
    )


def compile_module(module: ir.Module) -> bytes:
    """Return the machine code of a module as an object file."""
    machine = _machine()
    module.triple = machine.triple
    parsed = llvm.parse_assembly(str(module))
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.run(parsed, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
    return machine.emit_object(parsed)


class Library:
    """Native functions that this process has loaded, by name."""

    def __init__(self) -> None:
        empty = llvm.parse_assembly("")
        empty.triple = _machine().triple
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), jit=True
        )
        self._engine = llvm.create_mcjit_compiler(empty, target)
        runtime = ir.Module()
        add_runtime(runtime)
        self._load(compile_module(runtime))
        self.run: Callable[..., int] = _RUN(self._engine.get_function_address("warploom.run"))
        self.schedule: Callable[..., int] = _SCHEDULE(self._engine.get_function_address("warploom.schedule"))
        self.addresses: dict[str, int] = {}
        self.failed: set[str] = set()
        self.converged_only: set[str] = set()

    def _load(self, code: bytes) -> None:
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def add(self, module: ir.Module, names: Iterable[str]) -> None:
        """Compile a module and load the functions `names`."""
        self._load(compile_module(module))
        for name in names:
            self.addresses[name] = self._engine.get_function_address(name)


library = cache(Library)
