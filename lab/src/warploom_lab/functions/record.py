"""Record of LLVM's PTX for whole functions, and of MLIR's LLVM IR for attributes.

    for function in read(folder): print(function.name, function.target, len(function.ptx))

The functions are files `ORIGIN/NAME.mlir`, `ORIGIN/NAME.ll` or `ORIGIN/NAME.ll.xz` in the folder.
"""

import json
import lzma
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warploom.ptx import parse
from warploom_lab.mlir.attributes import cases
from warploom_lab.mlir.normal_ir import normal_ir
from warploom_lab.mlir.normalized import whole
from warploom_lab.mlir.tools import Tools

_ATTRIBUTES, _PTX = "attributes.json.xz", "ptx.json.xz"
_TARGET = "sm_90a"
_VERSION = (8, 6)
TARGETS = {"sm_100a": (8, 8)}
"""PTX versions of other targets than sm_90a. A file names its target in the first line."""


@dataclass(frozen=True)
class Function:
    """Module of one function: its file, the target, the PTX version, and the PTX of llc in normal form."""

    path: Path
    target: str
    version: tuple[int, int]
    ptx: tuple[str, ...] = ()
    generic: str = ""  # generic syntax of mlir-opt

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


def functions(folder: Path) -> Iterator[Function]:
    """Yield the functions of a folder without their PTX."""
    for path in sorted(folder.glob("*/*")):
        if path.name.endswith((".mlir", ".ll", ".ll.xz")):
            first = Function(path, _TARGET, _VERSION).text.partition("\n")[0]
            target = next((name for name in TARGETS if name in first), _TARGET)
            yield Function(path, target, TARGETS.get(target, _VERSION))


def read(folder: Path) -> Iterator[Function]:
    """Yield the functions of a folder with the recorded PTX."""
    found = _read(folder / _PTX)
    for each in functions(folder):
        recorded = found[each.name]
        yield Function(each.path, each.target, each.version, tuple(recorded["ptx"]), recorded["generic"])


def read_attributes(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the generic syntax and the LLVM IR of MLIR by the name of the case."""
    return {name: (generic, llvm) for name, (generic, llvm) in _read(folder / _ATTRIBUTES).items()}


def write(folder: Path, tools: Tools) -> None:
    """Query the tools for all functions of a folder and all attributes, and write the records.

    Errors: subprocess.CalledProcessError if a tool refuses a text
    """
    found: dict[str, object] = {}
    for each in functions(folder):
        generic, llvm = "", each.text
        if each.source == "nvvm":
            generic = _output(tools.opt, each.text, "-mlir-print-op-generic")
            lowered = _output(tools.opt, each.text, "-convert-scf-to-cf", "-convert-gpu-to-nvvm", *_CONVERSIONS)
            llvm = _output(tools.translate, lowered, "-mlir-to-llvmir")
        version = f"+ptx{each.version[0]}{each.version[1]}"
        ptx = _output(tools.llc, llvm, "-march=nvptx64", f"-mcpu={each.target}", f"-mattr={version}", "-o", "-")
        found[each.name] = {"ptx": whole(parse(ptx)), "generic": generic}
    _write(folder / _PTX, found)
    attributes: dict[str, object] = {}
    for name, text in cases():
        generic = _output(tools.opt, text, "-mlir-print-op-generic")
        attributes[name] = (generic, normal_ir(_output(tools.translate, text, "-mlir-to-llvmir")))
    _write(folder / _ATTRIBUTES, attributes)


_CONVERSIONS = ("-convert-nvvm-to-llvm", "-convert-to-llvm", "-reconcile-unrealized-casts")


def _output(tool: Path, text: str, *options: str) -> str:
    return subprocess.run([tool, *options], input=text, capture_output=True, text=True, check=True).stdout


def _read(path: Path) -> dict[str, dict[str, str]]:
    return json.loads(lzma.decompress(path.read_bytes()))


def _write(path: Path, found: dict[str, object]) -> None:
    path.write_bytes(lzma.compress(json.dumps(found).encode(), preset=9 | lzma.PRESET_EXTREME))
