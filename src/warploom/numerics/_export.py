"""Machine code of a function that Numba has compiled, for processes without Numba."""

# Numba and llvmlite have no type annotations.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from warploom.numerics._stored import FAILED, NATIVE, TABLE, Stored, is_available, load_function, target_machine

_I8, _I32, _I64, _F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_POINTER = _I8.as_pointer()
_TYPE, _VALUE = 8, 16
"""Offsets of the type of a Python object, and of the value of a float or of a NumPy scalar."""
_SIZE, _ITEMS, _WORD = 16, 24, 8
"""Offsets of the length and of the items of a tuple, and the size of an item."""
_DATA, _DIMENSIONS, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 16, 24, 32, 40, 56, 64
"""Offsets of the fields of `PyArrayObject`. Source: NumPy C API, PyArrayObject."""
_BYTE_ORDER, _TYPE_NUMBER = 26, 28
"""Offsets of the fields of `PyArray_Descr`. Source: NumPy C API, PyArray_Descr."""
_SWAPPED = ord(">" if sys.byteorder == "little" else "<")
_C_ORDER, _FORTRAN_ORDER, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400
"""Flags of NumPy arrays. Source: NumPy C API, PyArray_FLAGS."""
_ORDERS = {"C": _C_ORDER, "F": _FORTRAN_ORDER, "A": 0}
_MOST_SYMBOLS = 64
_PYTHON_TYPES = {"bool": "bool", "int64": "int", "float64": "float"}
"""Types of Python whose numbers have the same type for Numba as the NumPy scalars with these names."""


class UnsupportedSignature(Exception):
    """Exception for arguments or a result of a type that only Numba converts."""


def export(result: Any, name: str, has_rest: bool) -> Stored:
    """Return the machine code of a compiled signature.

    It has a function for callers in Python and a function for native callers. `result` is Numba's compilation result.
    `name` becomes the symbol of the first function, which must be unique. `has_rest` is True if the last argument is a
    tuple of further arguments.

    Errors: UnsupportedSignature
    """
    if object.__basicsize__ != _VALUE:
        raise UnsupportedSignature("objects of this Python have another layout")
    codegen = result.target_context.codegen()
    module = codegen.create_library(name).create_ir_module(name)
    wrapper = _Wrapper(module, result, name)
    wrapper.build(has_rest)
    linked = llvm.parse_bitcode(result.library._get_module_for_linking().as_bitcode())
    for addition in (str(module), _RUNTIME):
        linked.link_in(llvm.parse_assembly(addition))
    for each in linked.functions:
        if not each.is_declaration and each.name not in (name, name + NATIVE):
            each.linkage = llvm.Linkage.internal
    machine = target_machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(linked, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    functions = [each.name for each in linked.functions if each.is_declaration]
    needed = [each for each in functions if not each.startswith("llvm.")]
    if missing := [each for each in needed if each.startswith(_NUMBA) or not is_available(each)]:
        raise UnsupportedSignature(f"the code calls {missing[0]}")
    return Stored(name, tuple(wrapper.symbols), tuple(needed), machine.emit_object(linked))


def native_entry(result: Any) -> int:
    """Return the address of a function for native callers that calls the code of Numba in this process.

    `result` is Numba's compilation result. Return 0 if native callers cannot pass the arguments.
    """
    name = result.fndesc.mangled_name
    module = result.target_context.codegen().create_library(name).create_ir_module(name)
    try:
        _NativeEntry(module, result, name).build()
    except UnsupportedSignature:
        return 0
    llvm.add_symbol(name, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
    return load_function(name + NATIVE, target_machine(1).emit_object(llvm.parse_assembly(str(module))))


_NUMBA = ("NRT_", "numba_")
"""Beginnings of the names of functions that only processes with Numba have."""

_RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_Allocate(i64 %size) {
  %data = call ptr @malloc(i64 %size)
  ret ptr %data
}

define void @NRT_Free(ptr %data) {
  call void @free(ptr %data)
  ret void
}

define void @NRT_MemInfo_call_dtor(ptr %info) {
  call void @free(ptr %info)
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %step = zext i32 %align to i64
  %header = add i64 %step, 48
  %total = add i64 %header, %size
  %info = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %info, null
  br i1 %failed, label %end, label %fill
fill:
  %start = ptrtoint ptr %info to i64
  %last = add i64 %start, %header
  %mask = sub i64 0, %step
  %data = and i64 %last, %mask
  %data_at = getelementptr i64, ptr %info, i64 3
  %size_at = getelementptr i64, ptr %info, i64 4
  call void @llvm.memset.p0.i64(ptr %info, i8 0, i64 48, i1 false)
  store i64 1, ptr %info
  store i64 %data, ptr %data_at
  store i64 %size, ptr %size_at
  br label %end
end:
  ret ptr %info
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
"""Allocation of memory and of temporary arrays. Source: numba/core/runtime/nrt.cpp, `struct MemInfo`."""


class _NativeEntry:
    """Builder of the function for native callers (see `Compiled.native_entry`)."""

    def __init__(self, module: ir.Module, result: Any, name: str) -> None:
        self.result = result
        self.context = result.target_context
        self.function = ir.Function(module, ir.FunctionType(_I64, [_I64.as_pointer()]), name + NATIVE)
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self._position = 0  # of the next word

    def build(self) -> None:
        """Add the instructions of the function."""
        b, signature, fndesc = self.builder, self.result.signature, self.result.fndesc
        values = [self._argument(kind) for kind in signature.args]
        callee = self.context.declare_function(self.function.module, fndesc)
        status, value = self.context.call_conv.call_function(b, callee, signature.return_type, signature.args, values)
        found = ir.Constant(_I64, 0)
        if isinstance(signature.return_type, (types.Boolean, types.Integer)):
            is_signed = getattr(signature.return_type, "signed", False)
            found = b.sext(value, _I64) if is_signed else b.zext(value, _I64)
        b.ret(b.select(status.is_error, ir.Constant(_I64, FAILED), found))

    def _word(self) -> Any:
        self._position += 1
        return self.builder.load(self.builder.gep(self.function.args[0], [ir.Constant(_I64, self._position - 1)]))

    def _argument(self, kind: Any) -> Any:
        b = self.builder
        match kind:
            case types.Array(dtype=types.Boolean() | types.Integer() | types.Float()):
                data = b.inttoptr(self._word(), self.context.get_data_type(kind.dtype).as_pointer())
                shape, strides = (
                    cgutils.pack_array(b, [self._word() for _ in range(kind.ndim)], _I64) for _ in range(2)
                )
                return _pack_array(b, kind, data, shape, strides)
            case types.BaseTuple():
                return self.context.make_tuple(b, kind, [self._argument(each) for each in kind.types])
            case types.NoneType():
                return self.context.get_dummy_value()
            case types.Boolean() | types.Integer():
                return b.trunc(self._word(), self.context.get_value_type(kind))
            case types.Float():
                return b.bitcast(b.trunc(self._word(), ir.IntType(kind.bitwidth)), self.context.get_value_type(kind))
            case _:
                raise UnsupportedSignature(str(kind))


def _pack_array(b: ir.IRBuilder, kind: Any, data: Any, shape: Any, strides: Any) -> Any:
    """Return an array as a value of Numba. `shape` and `strides` are arrays of LLVM."""
    count = ir.Constant(_I64, 1)
    for axis in range(kind.ndim):
        count = b.mul(count, b.extract_value(shape, axis))
    size = ir.Constant(_I64, np.dtype(kind.dtype.name).itemsize)
    # The order of the fields is that of Numba's `ArrayModel`. The array has no owner that Numba counts.
    nothing = ir.Constant(_POINTER, None)
    return cgutils.pack_struct(b, [nothing, nothing, count, size, data, shape, strides])


class _Wrapper:
    """Builder of the function that converts Python objects to the arguments of a compiled function.

    The function reads Python objects from a table (see `Stored.symbols`). If the type of an argument differs from the
    signature, the function calls the object "fallback" of the table.

    Python uses the function in two ways. Without an owner, it executes the compiled code. As the method of an owner, it
    only compares the types of the arguments with the signature, and returns the address of the function for native
    callers. If a type differs, it calls the owner.
    """

    def __init__(self, module: ir.Module, result: Any, name: str) -> None:
        self.module = module
        self.result = result
        self.context = result.target_context
        self.symbols: list[str] = ["fallback"]
        kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _I64])
        self.function = ir.Function(module, kind, name)
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.table = ir.GlobalVariable(module, ir.ArrayType(_POINTER, _MOST_SYMBOLS), name + TABLE)
        self.table.initializer = ir.Constant(self.table.type.pointee, None)
        self.mismatch = self.function.append_basic_block("mismatch")

    def build(self, has_rest: bool) -> None:
        """Add the instructions of the function."""
        b, signature, fndesc = self.builder, self.result.signature, self.result.fndesc
        owner, arguments, count = self.function.args
        is_method = b.icmp_unsigned("!=", owner, ir.Constant(_POINTER, None))
        rest = signature.args[-1] if has_rest else None
        single = signature.args[:-1] if has_rest else signature.args
        kinds = (*single, *(rest or ()))
        self._require(b.icmp_unsigned("==", count, ir.Constant(_I64, len(kinds))))
        values = [
            self._unbox(kind, b.load(b.gep(arguments, [ir.Constant(_I64, number)])))
            for number, kind in enumerate(kinds)
        ]
        if rest is not None:
            values[len(single) :] = [self.context.make_tuple(b, rest, values[len(single) :])]
        entry = _NativeEntry(self.module, self.result, self.function.name)
        entry.build()
        with b.if_then(is_method):
            address = b.ptrtoint(entry.function, _I64)
            b.ret(b.call(self._python("PyLong_FromLongLong", _POINTER, _I64), [address]))
        callee = self.context.declare_function(self.module, fndesc)
        state = b.call(self._python("PyEval_SaveThread", _POINTER), [])
        status, value = self.context.call_conv.call_function(b, callee, signature.return_type, signature.args, values)
        b.call(self._python("PyEval_RestoreThread", ir.VoidType(), _POINTER), [state])
        with b.if_then(status.is_error, likely=False):
            message = f"the compiled function '{fndesc.qualname}' failed\0"
            text = cgutils.global_constant(b, "message", cgutils.make_bytearray(message.encode()))
            error = self._symbol("type:RuntimeError")
            b.call(
                self._python("PyErr_SetString", ir.VoidType(), _POINTER, _POINTER), [error, b.bitcast(text, _POINTER)]
            )
            b.ret(ir.Constant(_POINTER, None))
        b.ret(self._box(signature.return_type, value))
        b.position_at_end(self.mismatch)
        call = self._python("PyObject_Vectorcall", _POINTER, _POINTER, _POINTER.as_pointer(), _I64, _POINTER)
        fallback = b.select(is_method, owner, self._symbol("fallback"))
        b.ret(b.call(call, [fallback, arguments, count, ir.Constant(_POINTER, None)]))

    def _python(self, name: str, result: Any, *arguments: Any) -> Any:
        return cgutils.get_or_insert_function(self.module, ir.FunctionType(result, arguments), name)

    def _symbol(self, name: str) -> Any:
        """Return the address of a Python object from the table."""
        if name not in self.symbols:
            if len(self.symbols) == _MOST_SYMBOLS:
                raise UnsupportedSignature("the arguments have too many types")
            self.symbols.append(name)
        index = ir.Constant(_I64, self.symbols.index(name))
        return self.builder.load(self.builder.gep(self.table, [ir.Constant(_I64, 0), index]))

    def _field(self, item: Any, offset: int, kind: Any) -> Any:
        b = self.builder
        address = b.gep(item, [ir.Constant(_I64, offset)])
        return b.load(b.bitcast(address, kind.as_pointer()))

    def _require(self, condition: Any) -> None:
        """Leave the function through the fallback unless the condition holds."""
        following = self.function.append_basic_block()
        self.builder.cbranch(condition, following, self.mismatch)
        self.builder.position_at_end(following)

    def _require_type(self, item: Any, name: str) -> None:
        b = self.builder
        self._require(b.icmp_unsigned("==", self._field(item, _TYPE, _POINTER), self._symbol(f"type:{name}")))

    # Arguments ------------------------------------------------------------------------------------------

    def _unbox(self, kind: Any, item: Any) -> Any:
        match kind:
            case types.Array(dtype=types.Boolean() | types.Integer() | types.Float()):
                return self._array(kind, item)
            case types.BaseTuple():
                return self._tuple(kind, item)
            case types.NoneType():
                self._require(self.builder.icmp_unsigned("==", item, self._symbol("none")))
                return self.context.get_dummy_value()
            case types.Boolean() | types.Integer() | types.Float() if not isinstance(kind, types.Literal):
                return self._number(kind, item)
            case _:
                raise UnsupportedSignature(str(kind))

    def _number(self, kind: Any, item: Any) -> Any:
        """Convert a NumPy scalar, or a bool, int or float, to a number."""
        b = self.builder
        type_of = self._field(item, _TYPE, _POINTER)
        is_scalar = b.icmp_unsigned("==", type_of, self._symbol(f"scalar:{kind.name}"))
        python = _PYTHON_TYPES.get(kind.name)
        if python is None:
            self._require(is_scalar)
            return self._field(item, _VALUE, self.context.get_data_type(kind))
        is_python = b.icmp_unsigned("==", type_of, self._symbol(f"type:{python}"))
        self._require(b.or_(is_scalar, is_python))
        if kind == types.float64:  # both have the value at the same offset
            return self._field(item, _VALUE, _F64)
        if kind == types.boolean:
            value = b.icmp_unsigned("!=", self._field(item, _VALUE, _I8), ir.Constant(_I8, 0))
            return b.select(is_scalar, value, b.icmp_unsigned("==", item, self._symbol("true")))
        found = cgutils.alloca_once(b, _I64)
        with b.if_else(is_scalar) as (scalar, number):
            with scalar:
                b.store(self._field(item, _VALUE, _I64), found)
            with number:
                overflow = cgutils.alloca_once(b, _I32)
                convert = self._python("PyLong_AsLongLongAndOverflow", _I64, _POINTER, _I32.as_pointer())
                b.store(b.call(convert, [item, overflow]), found)
                self._require(b.icmp_signed("==", b.load(overflow), ir.Constant(_I32, 0)))
        return b.load(found)

    def _tuple(self, kind: Any, item: Any) -> Any:
        b = self.builder
        if isinstance(kind, types.BaseNamedTuple):
            name = f"class:{kind.instance_class.__module__}:{kind.instance_class.__qualname__}"
            self._require(b.icmp_unsigned("==", self._field(item, _TYPE, _POINTER), self._symbol(name)))
        else:
            self._require_type(item, "tuple")
            size = ir.Constant(_I64, len(kind.types))
            self._require(b.icmp_unsigned("==", self._field(item, _SIZE, _I64), size))
        items = [
            self._unbox(each, self._field(item, _ITEMS + _WORD * number, _POINTER))
            for number, each in enumerate(kind.types)
        ]
        return self.context.make_tuple(b, kind, items)

    def _array(self, kind: Any, item: Any) -> Any:
        b = self.builder
        self._require_type(item, "ndarray")
        dtype = self._field(item, _DTYPE, _POINTER)
        number = ir.Constant(_I32, np.dtype(kind.dtype.name).num)
        self._require(b.icmp_signed("==", self._field(dtype, _TYPE_NUMBER, _I32), number))
        self._require(b.icmp_unsigned("!=", self._field(dtype, _BYTE_ORDER, _I8), ir.Constant(_I8, _SWAPPED)))
        dimensions = ir.Constant(_I32, kind.ndim)
        self._require(b.icmp_unsigned("==", self._field(item, _DIMENSIONS, _I32), dimensions))
        # Numba takes an array in both orders for one in C order.
        orders = _C_ORDER if kind.layout == "C" else _C_ORDER | _FORTRAN_ORDER
        wanted = _ORDERS[kind.layout] | _ALIGNED * kind.aligned | _WRITEABLE * kind.mutable
        mask = ir.Constant(_I32, orders | _ALIGNED | _WRITEABLE)
        flags = b.and_(self._field(item, _FLAGS, _I32), mask)
        self._require(b.icmp_unsigned("==", flags, ir.Constant(_I32, wanted)))
        data = b.bitcast(self._field(item, _DATA, _POINTER), self.context.get_data_type(kind.dtype).as_pointer())
        shape, strides = (
            b.load(b.bitcast(self._field(item, offset, _POINTER), ir.ArrayType(_I64, kind.ndim).as_pointer()))
            for offset in (_SHAPE, _STRIDES)
        )
        return _pack_array(b, kind, data, shape, strides)

    # Result ---------------------------------------------------------------------------------------------

    def _box(self, kind: Any, value: Any) -> Any:
        b = self.builder
        match kind:
            case types.NoneType():
                return self._new_reference(self._symbol("none"))
            case types.Boolean():
                return self._new_reference(b.select(value, self._symbol("true"), self._symbol("false")))
            case types.Integer():
                name = "PyLong_FromLongLong" if kind.signed else "PyLong_FromUnsignedLongLong"
                wide = b.sext(value, _I64) if kind.signed else b.zext(value, _I64)
                return b.call(self._python(name, _POINTER, _I64), [wide])
            case types.Float():
                wide = value if kind == types.float64 else b.fpext(value, _F64)
                return b.call(self._python("PyFloat_FromDouble", _POINTER, _F64), [wide])
            case _:
                raise UnsupportedSignature(str(kind))

    def _new_reference(self, item: Any) -> Any:
        self.builder.call(self._python("Py_IncRef", ir.VoidType(), _POINTER), [item])
        return item
