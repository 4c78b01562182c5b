"""Declarations of CUDA C: local and global variables, types, enumerations and prototypes of functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute

from warploom.nvvm.builtins.c_types import INT, VOID, CType, Value, wrap
from warploom.nvvm.builtins.calls import Calls
from warploom.nvvm.builtins.emitter import memory_type
from warploom.nvvm.builtins.variables import ALIGN, Global, Place

_SPACES = {"__shared__": "shared", "__device__": "global", "__constant__": "const", "__managed__": "global"}
_LARGEST, _LARGEST_LOCAL = 1 << 40, 1 << 19
"""Limits of the size of a variable in bytes."""
_LARGEST_ALIGNMENT = 1 << 16
_INITIALIZED = 1 << 16
"""Limit of the number of elements in an array with an initializer."""


class Declarations(Calls):
    """Walk over declarations."""

    def specifiers(self, node: Any) -> dict[str, list[Any]]:
        """Return CUDA's specifiers of a declaration, such as `__shared__`, with their arguments.

        The key of `alignas` is "".
        """
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

    def signature(self, node: Any) -> tuple[CType, tuple[CType, ...]]:
        """Declare a function. Return the types of its result and of its parameters."""
        if "__global__" in self.specifiers(node):
            self.kernels.add(node.name)
        params: list[CType] = []
        for each in node.type.args.params if node.type.args else ():
            ctype = self.type_of(each)
            if ctype != VOID or each.name is not None:
                if ctype.base == "void" and not ctype.depth:
                    raise self.error("expected a parameter of a complete type, got void", each)
                params.append(ctype.pointer if ctype.extents else ctype)
        found = (replace(self.type_of(node.type.type), const=False), tuple(params))
        if (first := self.functions.setdefault(node.name, found)) != found:
            types = [f"{each[0]} ({', '.join(map(str, each[1]))})" for each in (first, found)]
            raise self.error(f"'{node.name}' was declared as {types[0]}, got {types[1]}", node)
        return found

    def _do_Typedef(self, node: Any) -> None:  # noqa: N802
        self.scopes[-1][node.name] = self.type_of(node)

    def _do_DeclList(self, node: Any) -> None:  # noqa: N802
        for each in node.decls:
            self._do_Decl(each)

    def _do_Decl(self, node: Any) -> None:  # noqa: N802
        """Declare a variable, a function or an enumeration."""
        self._enumerators(node.type)
        if node.name is None:
            return
        if type(node.type).__name__ == "FuncDecl":
            self.signature(node)
            return
        ctype = self._declared_type(node)
        if node.name in self.scopes[-1]:
            raise self.error(f"'{node.name}' is declared twice", node)
        specifiers = self.specifiers(node)
        words = [word for word in specifiers if word in _SPACES]
        if ctype.const and not ctype.depth and not ctype.extents and node.init is not None and not words:
            value = self.without_effects(node.init)
            if value.constant is not None:
                self.scopes[-1][node.name] = self.implicit(value, ctype, node.init)
                return
        if words or "static" in node.storage:
            self.scopes[-1][node.name] = self._global(
                node, ctype, _SPACES[words[-1]] if words else "global", specifiers
            )
        elif len(self.scopes) == 1:
            expected = "expected __device__, __constant__ or __shared__ before a variable outside a function"
            raise self.error(expected, node)
        else:
            place = self.local(node.name, ctype)
            if node.init is not None:
                self._initialise(place, node.init)

    def _enumerators(self, node: Any) -> None:
        """Declare the constants of the enumeration in a declaration."""
        while node is not None and type(node).__name__ != "Enum":
            node = node.type if hasattr(node, "type") and not isinstance(node.type, str) else None
        number = 0
        for each in node.values.enumerators if node is not None and node.values else ():
            if each.value is not None:
                value = self.constant(each.value)
                if value is None:
                    raise self.error("expression must have a constant integer value", each.value)
                number = value
            self.scopes[-1][each.name] = Value(INT, number)
            number += 1

    def _declared_type(self, node: Any) -> CType:
        ctype = self.type_of(node)
        if ctype.extents and ctype.extents[0] == 0 and type(node.init).__name__ == "InitList":
            ctype = replace(ctype, extents=(len(node.init.exprs), *ctype.extents[1:]))
        if ctype.base == "void" and not ctype.depth:
            raise self.error("expected a variable of a complete type, got void", node)
        limit = _LARGEST if "static" in node.storage or self.specifiers(node) else _LARGEST_LOCAL
        if ctype.size > limit:
            raise self.error(f"expected a variable of at most {limit} bytes, got {ctype.size}", node)
        if 0 in ctype.extents and not ("extern" in node.storage and "__shared__" in self.specifiers(node)):
            raise self.error("an array's extent must be a positive constant", node)
        return ctype

    def _initialise(self, place: Place, node: Any) -> None:
        """Store the initial value of a local variable. Elements of an array without an initializer are zero."""
        ctype = place.type
        if not ctype.extents:
            if type(node).__name__ == "InitList":
                raise self.error(f"expected a value of type {ctype}, got a list", node)
            self.write(self.implicit(self.value(node, ctype), ctype, node), place)
            return
        first = replace(place.address, type=replace(ctype.element, depth=ctype.depth + 1))
        for at, each in enumerate(self._flattened(node, ctype)):
            element = Value(INT, 0) if each is None else self.value(each, ctype.element)
            found = Place(self.moved(first, Value(INT, at)), ctype.element)
            self.write(self.implicit(element, ctype.element, each or node), found)

    def _flattened(self, node: Any, ctype: CType) -> list[Any]:
        """Return the initializer of each element of an array, or None for an element without one."""
        if type(node).__name__ != "InitList":
            raise self.error("expected a list of initializers for an array", node)
        inner = replace(ctype, extents=ctype.extents[1:])
        count = ctype.size // ctype.element.size
        if count > _INITIALIZED:
            raise self.error(f"expected at most {_INITIALIZED} elements in an array with an initializer", node)
        nested = inner.extents and any(type(each).__name__ == "InitList" for each in node.exprs)
        found: list[Any] = []
        for each in node.exprs:
            if type(each).__name__ == "NamedInitializer":
                raise self.error("cannot lower an initializer with a designator", each)
            found += self._flattened(each, inner) if nested else [each]
        if len(found) > count:
            raise self.error(f"expected at most {count} initializers, got {len(found)}", node)
        return found + [None] * (count - len(found))

    # Global variables ---------------------------------------------------------------------------------------

    def _global(self, node: Any, ctype: CType, space: str, specifiers: dict[str, list[Any]]) -> Global:
        is_extern, is_local = "extern" in node.storage, len(self.scopes) > 1 or "static" in node.storage
        if space == "shared" and node.init is not None:
            raise self.error("expected a __shared__ variable without an initializer", node)
        value = None if space == "shared" or is_extern else self._initial(node, ctype)
        known = (each.sym_name.data for each in self.operations if isinstance(each, llvm.GlobalOp))
        if is_extern and node.name in known:
            return Global(node.name, space, ctype)
        align = max((self.constant(each) or 0 for each in specifiers.get("", ())), default=0)
        if align & (align - 1) or align > _LARGEST_ALIGNMENT:
            raise self.error(f"expected a power of two up to {_LARGEST_ALIGNMENT} as the alignment, got {align}", node)
        linkage = "external" if is_extern or not is_local else "internal"
        return self.variable(node.name, ctype, space, linkage, value=value, alignment=max(ALIGN, align))

    def _initial(self, node: Any, ctype: CType) -> Attribute:
        """Return the initial value of a variable in global or constant memory."""
        element = ctype.element
        if element.depth:
            raise self.error("cannot lower a pointer variable in global memory; expected a number", node)
        numbers: list[int | float] = []
        # One number fills an array without an initializer.
        for each in self._flattened(node.init, ctype) if node.init is not None and ctype.extents else [node.init]:
            value = Value(INT, 0) if each is None else self.implicit(self.without_effects(each), element, each)
            if value.constant is None:
                raise self.error("expected a constant initializer outside a function", each)
            number = wrap(value.constant, element.plain)
            numbers.append(0 if number is None else number)
        kind: Any = memory_type(element)
        if ctype.extents and not any(numbers) and len(set(map(str, numbers))) > 1:
            return _nested(numbers, ctype.extents, kind)  # xDSL prints a dense list of 0.0 and -0.0 as one number
        if ctype.extents:
            return DenseIntOrFPElementsAttr.from_list(TensorType(kind, list(ctype.extents)), numbers)
        return FloatAttr(float(numbers[0]), kind) if element.is_float else IntegerAttr(int(numbers[0]), kind)


def _nested(numbers: Sequence[float], extents: Sequence[int], kind: Any) -> Attribute:
    """Return the elements of an array of floating-point numbers as nested lists."""
    if not extents:
        return FloatAttr(float(numbers[0]), kind)
    size = len(numbers) // extents[0]
    parts = (numbers[at : at + size] for at in range(0, len(numbers), size))
    return ArrayAttr([_nested(each, extents[1:], kind) for each in parts])
