"""Record of LLVM's PTX for whole functions, and of MLIR's LLVM IR for attributes.

    for function in read(folder): print(function.name, len(function.ptx))

The functions are files `ORIGIN/NAME.mlir`, `ORIGIN/NAME.ll` or `ORIGIN/NAME.ll.xz` of the folder.
"""

import json
import lzma
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warploom.nvvm.llvm.backend import without_bits
from warploom_lab.mlir.attributes import cases
from warploom_lab.mlir.normal_ir import normal_ir
from warploom_lab.mlir.tools import Tools

TARGET, VERSION = "sm_90a", (8, 6)
"""Target and PTX version of all functions."""
_ATTRIBUTES, _PTX = "attributes.json.xz", "ptx.json.xz"
_LARGE = 20_000
_CONVERSIONS = (
    "-convert-scf-to-cf", "-convert-gpu-to-nvvm", "-convert-nvvm-to-llvm", "-convert-to-llvm",
    "-reconcile-unrealized-casts",
)  # fmt: skip
_HEADER = re.compile(r"\.(?:version|target|reg|address_size)\b")
_SPECIAL = "tid|ctaid|ntid|nctaid|laneid|cluster|nwarpid|warpid|SP"
_NAME = re.compile(rf"[%$](?!{_SPECIAL})[\w$]+")


@dataclass(frozen=True)
class Function:
    """File of a function, with the PTX of llc in normal form and the generic syntax of mlir-opt."""

    path: Path
    ptx: str = ""
    generic: str = ""

    @property
    def name(self) -> str:
        """Origin and name, such as `clang/saxpy`."""
        return f"{self.path.parent.name}/{self.path.name.partition('.')[0]}"

    @property
    def source(self) -> str:
        """Level of the text: "nvvm" or "llvm"."""
        return "nvvm" if self.path.suffix == ".mlir" else "llvm"

    @property
    def text(self) -> str:
        """Text of the file."""
        data = self.path.read_bytes()
        return (lzma.decompress(data) if self.path.suffix == ".xz" else data).decode()


def functions(folder: Path) -> list[Function]:
    """Return the functions of a folder without their PTX."""
    return [Function(path) for path in sorted(folder.glob("*/*.*")) if path.name.endswith((".mlir", ".ll", ".ll.xz"))]


def read(folder: Path) -> Iterator[Function]:
    """Yield the functions of a folder with the recorded PTX."""
    found = _read(folder / _PTX)
    yield from (replace(each, **found[each.name]) for each in functions(folder))


def read_attributes(folder: Path) -> Mapping[str, tuple[str, str]]:
    """Return the generic syntax and the LLVM IR of MLIR by the name of the case."""
    return _read(folder / _ATTRIBUTES)


def write(folder: Path, tools: Tools) -> None:
    """Query the tools for all functions of a folder and all attributes, write the records, and compress large files."""
    found: dict[str, Any] = {}
    for each in functions(folder):
        generic, llvm = "", without_bits(each.text)
        if each.source == "nvvm":
            (generic,) = tools.printed([each.text], "-mlir-print-op-generic")
            (llvm,) = tools.translated([_inner(tools.printed([each.text], *_CONVERSIONS)[0])])
        elif each.path.suffix == ".ll" and len(llvm) > _LARGE:
            each.path.with_suffix(".ll.xz").write_bytes(lzma.compress(each.text.encode(), preset=9))
            each.path.unlink()
        found[each.name] = {"ptx": normal_ptx(tools.ptx(llvm, TARGET, VERSION)), "generic": generic}
    _write(folder / _PTX, found)
    names, texts = zip(*cases(), strict=True)
    generic = tools.printed(texts, "-mlir-print-op-generic")
    translated = map(normal_ir, tools.translated(texts))
    _write(folder / _ATTRIBUTES, dict(zip(names, zip(generic, translated, strict=True), strict=True)))


def _inner(text: str) -> str:
    """Return the operations of the `gpu.module` in a module, or the module if it has none."""
    found = re.search(r"(?ms)^  gpu\.module @\w+ .*?\{\n(.*)^  \}$", text)
    return found[1] if found else text


def normal_ptx(text: str) -> str:
    """Return PTX without comments and declarations of registers. Registers and labels have numbers in their order."""
    return "\n".join(filter(None, map(_normal_function, re.split(r"(?m)^(?=\.(?:visible|weak|func|entry)\b)", text))))


def _normal_function(text: str) -> str:
    names: dict[str, str] = {}
    lines = [" ".join(line.partition("//")[0].split()) for line in text.splitlines()]
    kept = [line for line in lines if line and not _HEADER.match(line)]
    return _NAME.sub(lambda found: names.setdefault(found[0], f"%{len(names)}"), "\n".join(kept))


def _read(path: Path) -> dict[str, Any]:
    return json.loads(lzma.decompress(path.read_bytes()))


def _write(path: Path, found: Mapping[str, object]) -> None:
    path.write_bytes(lzma.compress(json.dumps(found, indent=0).encode(), preset=9 | lzma.PRESET_EXTREME))
