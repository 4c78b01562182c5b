"""Declarations of CUDA C: parameters, local and global variables, types and prototypes of functions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.dialects.llvm import LinkageAttr, LLVMFunctionType, LLVMVoidType
from xdsl.ir import Attribute, Block, Operation

from warploom.nvvm.builtins.c_types import INT, CType, Value, is_float, wrap
from warploom.nvvm.builtins.device_functions import DEVICE_FUNCTIONS, DeviceFunctions
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.expressions import VOID, Global, Place
from warploom.nvvm.builtins.registry import BY_NAME
from warploom.nvvm.builtins.source import FRAGMENT, CudaText
from warploom.nvvm.dialect.types import ADDRESS_SPACES

_SPACES = {"__shared__": "shared", "__device__": "global", "__constant__": "const", "__managed__": "global"}
_ALIGN = 16


class Declarations(DeviceFunctions):
    """Walk over declarations. `operations` are the functions and variables of the module."""

    def __init__(self, text: CudaText, spaces: dict[object, str]) -> None:
        super().__init__(text, spaces)
        self.operations: list[Operation] = []
        self.block = Block()
        self._names: set[str] = set()
        self._functions: dict[str, tuple[CType, tuple[CType, ...]]] = {}
        self._prototypes: dict[str, llvm.FuncOp] = {}
        self._entry = Block()
        self._function = ""
        self._is_kernel = False
        self._modified: set[str] = set()

    def _specifiers(self, node: Any) -> dict[str, list[Any]]:
        """Return the arguments of CUDA's specifiers of a declaration. An alignment has the name ""."""
        found: dict[str, list[Any]] = {}
        for each in node.align or ():
            value = each.alignment
            match type(value).__name__:
                case "ID":
                    found[value.name] = []
                case "FuncCall":
                    found[value.name.name] = value.args.exprs if value.args else []
                case _:
                    found[""] = [value]
        return found

    def _signature(self, node: Any) -> tuple[CType, tuple[CType, ...]]:
        """Declare a function. Return the types of its result and of its parameters."""
        params: list[CType] = []
        for each in node.type.args.params if node.type.args else ():
            ctype = self.type_of(each)
            ctype = ctype.pointer if ctype.extents else ctype
            if ctype != VOID or each.name is not None:
                if ctype.base == "void" and not ctype.depth:
                    raise self.error("expected a parameter of a complete type, got void", each)
                params.append(ctype)
        found = (replace(self.type_of(node.type.type), const=False), tuple(params))
        if self._functions.setdefault(node.name, found) != found:
            raise self.error(f"'{node.name}' was declared with other types", node)
        return found

    def undeclared(self, name: str) -> Place | Value | None:
        """Return the parameter that an undeclared name becomes, or None if the name is an error."""
        if not self.text.is_fragment or self._function != FRAGMENT or name in BY_NAME or name in DEVICE_FUNCTIONS:
            return None
        ctype = replace(self.expected, extents=(), rows=())
        return self._parameter(name, INT if ctype == VOID else ctype, name, 1)

    # Variables ----------------------------------------------------------------------------------------------

    @contextmanager
    def _scope(self) -> Generator[None]:
        self.scopes.append({})
        yield
        self.scopes.pop()

    @contextmanager
    def _in_entry(self) -> Generator[None]:
        kept, self.block = self.block, self._entry
        yield
        self.block = kept

    def _parameter(self, name: str, ctype: CType, key: object, scope: int = -1) -> Place | Value:
        argument = self._entry.insert_arg(memory_type(ctype), len(self._entry.args))
        # Kernels receive addresses only of global memory.
        space = "global" if self._is_kernel and (ctype.depth or ctype.is_integer) else ""
        with self._in_entry():
            if name not in self._modified:
                value = replace(self.from_memory(argument, ctype), space=space)
                self.scopes[scope][name] = value
                return value
            place = self._local(name, ctype, key, scope)
            self.add(llvm.StoreOp(argument, self.ssa(place.address), ctype.size))
        self.note_space(place.name, space)
        return place

    def _local(self, name: str, ctype: CType, key: object, scope: int = -1) -> Place:
        with self._in_entry():
            size = self.integer(1)
            alignment = max(4, ctype.element.size if not ctype.extents else _ALIGN)
            pointer = self.result(llvm.AllocaOp(size, memory_type(ctype), alignment))
        address = Value(replace(ctype, depth=ctype.depth + 1, extents=()), None, pointer, "local", 0, ctype.size)
        place = Place(address, ctype, (self._function, key))
        self.scopes[scope][name] = place
        return place

    def _typedef(self, node: Any) -> None:
        self.scopes[-1][node.name] = self.type_of(node)

    def _enumerators(self, node: Any) -> None:
        """Declare the constants of the enumeration in a declaration."""
        while node is not None and type(node).__name__ != "Enum":
            node = getattr(node, "type", None) if not isinstance(getattr(node, "type", None), str) else None
        number = 0
        for each in node.values.enumerators if node is not None and node.values else ():
            if each.value is not None:
                value = self.constant(each.value)
                if value is None:
                    raise self.error("expression must have a constant integer value", each.value)
                number = value
            self.scopes[-1][each.name] = Value(INT, number)
            number += 1

    def _declare(self, node: Any) -> None:
        """Declare a variable, a function or an enumeration."""
        self._enumerators(node.type)
        if node.name is None:
            return
        if type(node.type).__name__ == "FuncDecl":
            self._prototype(node)
            return
        ctype = self._declared_type(node)
        if node.name in self.scopes[-1]:
            raise self.error(f"'{node.name}' is declared twice", node)
        specifiers = self._specifiers(node)
        words = [word for word in specifiers if word in _SPACES]
        inside = len(self.scopes) > 1
        if ctype.const and not ctype.depth and not ctype.extents and node.init is not None and not words:
            value = self.without_effects(node.init)
            if value.constant is not None:
                self.scopes[-1][node.name] = self.convert(self.implicit(value, ctype, node.init), ctype)
                return
        if not inside and not words:
            raise self.error(
                "expected __device__, __constant__ or __shared__ before a variable outside a function", node
            )
        if words or "static" in node.storage:
            self._global(node, ctype, _SPACES[words[-1]] if words else "global", specifiers)
            return
        place = self._local(node.name, ctype, (node.name, self.text.span(node).start))
        if node.init is not None:
            self._initialise(place, ctype, node.init)

    def _declared_type(self, node: Any) -> CType:
        ctype = self.type_of(node)
        if ctype.extents and ctype.extents[0] == 0 and type(node.init).__name__ == "InitList":
            ctype = replace(ctype, extents=(len(node.init.exprs), *ctype.extents[1:]))
        if ctype.base == "void" and not ctype.depth:
            raise self.error("expected a variable of a complete type, got void", node)
        if 0 in ctype.extents and not ("extern" in node.storage and "__shared__" in self._specifiers(node)):
            raise self.error("an array's extent must be a positive constant", node)
        return ctype

    def _prototype(self, node: Any) -> None:
        result, params = self._signature(node)
        kind = LLVMFunctionType([*map(memory_type, params)], LLVMVoidType() if result == VOID else memory_type(result))
        self._prototypes[node.name] = llvm.FuncOp(node.name, kind, LinkageAttr("external"))

    def _initialise(self, place: Place, ctype: CType, node: Any) -> None:
        """Store the initial value of a local variable. Elements of an array without an initializer are zero."""
        if not ctype.extents:
            if type(node).__name__ == "InitList":
                raise self.error(f"expected a value of type {ctype}, got a list", node)
            value = self.value(node, ctype)
            self.write(self.implicit(value, ctype, node), place)
            return
        for at, each in enumerate(self._flattened(node, ctype)):
            element = Value(INT, 0) if each is None else self.value(each, ctype.element)
            first = replace(place.address, type=replace(ctype.element, depth=ctype.depth + 1))
            address = self.ssa(self.moved(first, Value(INT, at)))
            self.store(self.implicit(element, ctype.element, each or node), address)

    def _flattened(self, node: Any, ctype: CType) -> list[Any]:
        """Return the initializer of each element of an array, or None for an element without one."""
        if type(node).__name__ != "InitList":
            raise self.error("expected a list of initializers for an array", node)
        inner = replace(ctype, extents=ctype.extents[1:])
        count = ctype.size // inner.size
        nested = inner.extents and any(type(each).__name__ == "InitList" for each in node.exprs)
        size = inner.size // ctype.element.size
        found: list[Any] = []
        for each in node.exprs:
            if type(each).__name__ == "NamedInitializer":
                raise self.error("cannot lower an initializer with a designator", each)
            found += self._flattened(each, inner) if nested else [each]
        if len(found) > count * size:
            raise self.error(f"expected at most {count * size} initializers, got {len(found)}", node)
        return found + [None] * (count * size - len(found))

    # Global variables ---------------------------------------------------------------------------------------

    def global_name(self, name: str) -> str:
        """Return a name that no global variable or function of the module has."""
        found, number = name, 0
        while found in self._names:
            number += 1
            found = f"{name}_{number}"
        self._names.add(found)
        return found

    def add_global(self, variable: llvm.GlobalOp) -> None:
        """Add a global variable to the module."""
        self.operations.append(variable)

    def _global(self, node: Any, ctype: CType, space: str, specifiers: dict[str, list[Any]]) -> None:
        is_extern = "extern" in node.storage
        inside = len(self.scopes) > 1
        if space == "shared" and node.init is not None:
            raise self.error("expected a __shared__ variable without an initializer", node)
        align = max(_ALIGN, *(self.constant(each) or 0 for each in specifiers.get("", ())), 0)
        linkage = "external" if is_extern or not (inside or "static" in node.storage) else "internal"
        value: Attribute | None = None
        if space != "shared" and not is_extern:
            value = self._initial(node, ctype)
        name = node.name if is_extern and node.name in self._names else self.global_name(node.name)
        if (
            name != node.name
            or not is_extern
            or not any(isinstance(each, llvm.GlobalOp) and each.sym_name.data == name for each in self.operations)
        ):
            self.add_global(
                llvm.GlobalOp(memory_type(ctype), name, linkage, ADDRESS_SPACES[space], value=value, alignment=align)
            )
        self.scopes[-1][node.name] = Global(name, space, ctype)

    def _initial(self, node: Any, ctype: CType) -> Attribute:
        """Return the initial value of a variable in global or constant memory."""
        element = ctype.element
        if element.depth:
            raise self.error("cannot lower a pointer in global memory; expected a number", node)
        listed = node.init is not None and ctype.extents
        nodes = self._flattened(node.init, ctype) if listed else [node.init]
        numbers: list[int | float] = []
        for each in nodes:
            value = Value(INT, 0) if each is None else self.implicit(self.without_effects(each), element, each)
            if value.constant is None:
                raise self.error("expected a constant initializer outside a function", each)
            constant = wrap(value.constant, replace(element, const=False))
            numbers.append(constant or 0)
        kind: Any = memory_type(element)
        if ctype.extents:
            return DenseIntOrFPElementsAttr.from_list(TensorType(kind, list(ctype.extents)), numbers)
        return FloatAttr(float(numbers[0]), kind) if is_float(element) else IntegerAttr(int(numbers[0]), kind)
