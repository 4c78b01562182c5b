"""Parameters of attributes of the llvm dialect, and the metadata of LLVM IR that they describe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm.mlir.llvm_values import escaped, items_of

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|distinct\[\d+\]<>|#[\w.]+|[\w.+-]+(?:<[\w ]+>|\s*:\s*\w+)?|!?[\w.]+|[<>{}()\[\]=,]'
)
_CLOSERS = {"<": ">", "{": "}", "[": "]", "(": ")"}


def parameters_of(attribute: Attribute | None) -> Any:
    """Return the parameters of an attribute as a dictionary or a list.

    The parameters of `#llvm.loop_licm<disable = true>` are {"disable": "true"}.
    A nested attribute is also a dictionary or a list. Any other parameter is its text.
    """
    return _parsed(_TOKEN.findall(str(attribute))) if attribute is not None else []


def _parsed(tokens: list[str]) -> Any:
    """Take the first item from a list of tokens and return it."""
    first = tokens.pop(0)
    if first.startswith("#"):
        return _parsed(tokens) if tokens[:1] == ["<"] else []
    if first not in _CLOSERS:
        return first
    named: dict[str, Any] = {}
    items: list[Any] = []
    while tokens and tokens[0] != _CLOSERS[first]:
        item = _parsed(tokens)
        if tokens[:1] == ["="]:
            tokens.pop(0)
            named[item] = _parsed(tokens)
        elif item != "," and named:  # a further item of the last list, which has no brackets
            last = next(reversed(named))
            named[last] = [*(named[last] if isinstance(named[last], list) else [named[last]]), item]
        elif item != ",":
            items.append(item)
    del tokens[:1]
    return named or items


def integer(text: str) -> int:
    """Return the number of a parameter such as `4 : i32`."""
    return int(text.partition(":")[0])


_LOOP = {
    "disableNonforced": {"": "unit llvm.loop.disable_nonforced"},
    "mustProgress": {"": "unit llvm.loop.mustprogress"},
    "isVectorized": {"": "number llvm.loop.isvectorized"},
    "vectorize": {
        "disable": "negated llvm.loop.vectorize.enable", "predicateEnable": "flag llvm.loop.vectorize.predicate.enable",
        "scalableEnable": "flag llvm.loop.vectorize.scalable.enable", "width": "number llvm.loop.vectorize.width",
        "followupVectorized": "loop llvm.loop.vectorize.followup_vectorized",
        "followupEpilogue": "loop llvm.loop.vectorize.followup_epilogue",
        "followupAll": "loop llvm.loop.vectorize.followup_all",
    },
    "interleave": {"count": "number llvm.loop.interleave.count"},
    "unroll": {
        "disable": "switch llvm.loop.unroll", "count": "number llvm.loop.unroll.count",
        "runtimeDisable": "flag llvm.loop.unroll.runtime.disable", "full": "unit llvm.loop.unroll.full",
        "followupUnrolled": "loop llvm.loop.unroll.followup_unrolled",
        "followupRemainder": "loop llvm.loop.unroll.followup_remainder",
        "followupAll": "loop llvm.loop.unroll.followup_all",
    },
    "unrollAndJam": {
        "disable": "switch llvm.loop.unroll_and_jam", "count": "number llvm.loop.unroll_and_jam.count",
        "followupOuter": "loop llvm.loop.unroll_and_jam.followup_outer",
        "followupInner": "loop llvm.loop.unroll_and_jam.followup_inner",
        "followupRemainderOuter": "loop llvm.loop.unroll_and_jam.followup_remainder_outer",
        "followupRemainderInner": "loop llvm.loop.unroll_and_jam.followup_remainder_inner",
        "followupAll": "loop llvm.loop.unroll_and_jam.followup_all",
    },
    "licm": {"disable": "unit llvm.licm.disable", "versioningDisable": "unit llvm.loop.licm_versioning.disable"},
    "distribute": {
        "disable": "negated llvm.loop.distribute.enable",
        "followupCoincident": "loop llvm.loop.distribute.followup_coincident",
        "followupSequential": "loop llvm.loop.distribute.followup_sequential",
        "followupFallback": "loop llvm.loop.distribute.followup_fallback",
        "followupAll": "loop llvm.loop.distribute.followup_all",
    },
    "pipeline": {
        "disable": "flag llvm.loop.pipeline.disable",
        "initiationinterval": "number llvm.loop.pipeline.initiationinterval",
    },
    "peeled": {"count": "number llvm.loop.peeled.count"},
    "unswitch": {"partialDisable": "unit llvm.loop.unswitch.partial.disable"},
}  # fmt: skip
"""Kind and name of the node for each parameter of `#llvm.loop_annotation`, in the order of the nodes."""


class Metadata:
    """Metadata nodes of a module, and the named lists of nodes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # by the text of a node, or by the identity of a distinct node
        self._texts: list[str] = []
        self._named: dict[str, list[str]] = {}

    def node(self, *operands: str, identity: str = "") -> str:
        """Return the reference of a node, such as `!3`.

        `identity` makes the node distinct from others with the same operands. The operand `self` stands for the node.
        """
        number = self._numbers.setdefault(identity or str(operands), len(self._texts))
        if number == len(self._texts):
            items = ", ".join(f"!{number}" if each == "self" else each for each in operands)
            self._texts.append("distinct " * bool(identity) + f"!{{{items}}}")
        return f"!{number}"

    def name(self, name: str, *operands: str) -> None:
        """Append a node to a named list."""
        self._named.setdefault(name, []).append(self.node(*operands))

    def lines(self) -> Iterator[str]:
        """Yield the text of the lists and of the nodes."""
        for name, numbers in self._named.items():
            yield f"!{name} = !{{{', '.join(numbers)}}}"
        for number, text in enumerate(self._texts):
            yield f"!{number} = {text}"

    # Accesses ---------------------------------------------------------------------------------------------------

    def access(self, found: Mapping[str, Attribute]) -> str:
        """Return the metadata of an access or call that states how it aliases with others."""
        text = ""
        if tags := items_of(found.get("tbaa")):
            if len(tags) > 1:
                raise VerifyException(f"expects one tag in 'tbaa', got {len(tags)}")
            text += f", !tbaa {self._tag(parameters_of(tags[0]))}"
        for name, kind in (("alias_scopes", "alias.scope"), ("noalias_scopes", "noalias")):
            if scopes := items_of(found.get(name)):
                text += f", !{kind} {self.scopes(*scopes)}"
        groups = [self._group(parameters_of(each)) for each in items_of(found.get("access_groups"))]
        if groups:
            text += f", !llvm.access.group {groups[0] if len(groups) == 1 else self.node(*groups)}"
        return text

    def scopes(self, *scopes: Attribute) -> str:
        """Return a list of alias scopes."""
        return self.node(*(self._scope(parameters_of(each), "scope") for each in scopes))

    def _scope(self, found: Any, kind: str) -> str:
        """Return an alias scope, or a domain of scopes."""
        domain = [self._scope(found["domain"], "domain")] if "domain" in found else []
        description = [f"!{found['description']}"] if "description" in found else []
        named = found["id"].startswith('"')
        first = f"!{found['id']}" if named else "self"
        return self.node(first, *domain, *description, identity="" if named else f"{kind} {found['id']}")

    def _group(self, found: Any) -> str:
        return self.node(identity=f"group {found['id']}")

    def _tag(self, found: Any) -> str:
        types = [self._type(found[name]) for name in ("base_type", "access_type")]
        constant = ["i64 1"] * (found.get("constant") == "true")
        return self.node(*types, f"i64 {found['offset']}", *constant)

    def _type(self, found: Any) -> str:
        """Return a type of the type-based alias analysis, or the root of the types."""
        if "id" not in found:
            return self.node("self", identity="anonymous root")
        members = [text for kind, offset in found.get("members", ()) for text in (self._type(kind), f"i64 {offset}")]
        return self.node(f"!{found['id']}", *members)

    # Branches ---------------------------------------------------------------------------------------------------

    def branch(self, found: Mapping[str, Attribute]) -> str:
        """Return the metadata of a branch."""
        loop = found.get("loop_annotation")
        return "" if loop is None else f", !llvm.loop {self._loop(parameters_of(loop))}"

    def _loop(self, found: Any) -> str:
        options: list[str] = []
        rest: dict[str, Any] = dict(found)
        for part, rows in _LOOP.items():
            given: Any = rest.pop(part, {})
            values: dict[str, Any] = {"": given} if isinstance(given, str) else {**given} if given else {}
            for name, row in rows.items():
                if name in values:
                    kind, node = row.split()
                    options.append(self._option(kind, node, values.pop(name)))
            rest |= {f"{part}.{name}": value for name, value in values.items()}
        accesses: Any = rest.pop("parallelAccesses", [])
        accesses = [accesses] if isinstance(accesses, dict) else accesses
        groups = [self._group(each) for each in accesses]
        if groups:
            options.append(self.node('!"llvm.loop.parallel_accesses"', *groups))
        if rest:
            raise VerifyException(f"cannot lower the parameter '{next(iter(rest))}' of 'loop_annotation' to LLVM")
        return self.node("self", *filter(None, options), identity=f"loop {found}")

    def _option(self, kind: str, name: str, value: Any) -> str:
        """Return the node of a parameter, or "" for one without a node."""
        match kind:
            case "unit":
                return self.node(f'!"{name}"') if value == "true" else ""
            case "switch":
                return self.node(f'!"{name}.{"disable" if value == "true" else "enable"}"')
            case "flag":
                operand = f"i1 {value}"
            case "negated":
                operand = f"i1 {'false' if value == 'true' else 'true'}"
            case "number":
                operand = f"i32 {int(value == 'true') if value in ('true', 'false') else integer(value)}"
            case _:
                operand = self._loop(value)
        return self.node(f'!"{name}"', operand)


# Parameters of other attributes -------------------------------------------------------------------------------


def texts_of(attribute: Attribute | None) -> list[str]:
    """Return the strings of an attribute, with the escapes of LLVM."""
    if isinstance(attribute, StringAttr):
        return [escaped(attribute.data)]
    if items := items_of(attribute):
        return [text for item in items for text in texts_of(item)]
    return [str(text).strip('"') for text in parameters_of(attribute)]


def number_of(attribute: Attribute | None, default: int = 0) -> int:
    """Return the value of an integer attribute."""
    return attribute.value.data if isinstance(attribute, IntegerAttr) else default


def words_of(attribute: Attribute | None) -> str:
    """Return the words of an attribute such as `#llvm.fastmath<nnan, contract>`, separated by spaces."""
    if attribute is None or isinstance(attribute, IntegerAttr):
        return ""
    if isinstance(attribute, StringAttr):
        text = attribute.data
    else:
        text = str(attribute).partition("<")[2].rpartition(">")[0].replace('"', "")
    return " ".join(word for word in re.split(r"[\s,]+", text) if word and word != "none")
