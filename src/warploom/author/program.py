"""Modules of several kernels and the declarations that they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from warploom.author.errors import errors_at_caller
from warploom.author.inline import checked_items
from warploom.author.kernel import Kernel, resolve_target
from warploom.author.kernel_text import module_text
from warploom.check.functions import Walk
from warploom.ptx import Module, TopLevel, parse
from warploom.ptx.printer import to_text


class Program:
    """A module of kernels and shared declarations, in the order in which they were added."""

    def __init__(self, *, target: str = "sm_90a", ptx_version: str = "") -> None:
        self.target = target
        self.version = ptx_version
        self.parts: list[TopLevel | Kernel] = []

    def declare(self, text: str) -> None:
        """Add PTX declarations: variables, functions, directives. Later kernels can use them.

        Errors: AuthorError with the diagnostics of the parser and the checker, placed in the text.
        """
        with errors_at_caller():
            target, version = resolve_target(self.target, self.version)
        walk = Walk(Module(()), target, version)
        for item in self._items():
            walk.item(item)
        self.parts += checked_items(text, walk)

    def kernel(
        self,
        function: Callable[..., None] | None = None,
        *,
        name: str = "",
        linkage: tuple[str, ...] = ("visible",),
    ) -> Any:
        """Decorate a function that builds a kernel of this program; see `warploom.author.kernel`."""
        if function is None:
            return partial(self.kernel, name=name, linkage=linkage)
        made = Kernel(function, self.target, self.version, {}, name, linkage, self._items())
        self.parts.append(made)
        return made

    def _items(self) -> tuple[TopLevel, ...]:
        return tuple(part for part in self.parts if not isinstance(part, Kernel))

    @property
    def text(self) -> str:
        """PTX of the program; comments name the Python line of each instruction."""
        target, version = resolve_target(self.target, self.version)
        kernels = [part for part in self.parts if isinstance(part, Kernel)]
        texts: list[str] = []
        for part in self.parts:
            if isinstance(part, Kernel):
                texts += [*map(to_text, part.built.items), part.entry_text]
            else:
                texts.append(to_text(part))
        return module_text(target, version, [each.built for each in kernels], texts)

    @property
    def module(self) -> Module:
        """PTX of the program as a tree."""
        return parse(self.text)
