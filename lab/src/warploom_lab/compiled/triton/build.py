"""Compilation of Triton and Gluon kernels without a GPU, by a Python interpreter that has Triton 3.9.

The words select kernels by parts of their names:

    python -m warploom_lab.compiled.triton.build FOLDER [WORD…]
"""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from warploom_lab.compiled.description import Spec

MODULES = (
    "gemm",
    "scales",
    "attention",
    "rows",
    "elementwise",
    "memory",
    "models",
    "gluon",
    "gluon_blackwell",
    "gluon_instructions",
    "gluon_scaled",
)


def triton_type(spec: Spec) -> str:
    """Return the type of an argument in a Triton signature."""
    if spec["kind"] == "tensor":
        box = ",".join(str(n) for n in spec["box"])
        layout = f",{spec['layout']}" if spec.get("layout") else ""
        return f"tensordesc<{spec['dtype']}[{box}]{layout}>"
    if spec["kind"] == "table":
        return "*i64"
    return f"*{spec['dtype']}" if spec["kind"] == "buffer" else spec["dtype"]


def is_aligned(spec: Spec) -> bool:
    """Return True if Triton may assume that an integer or address is a multiple of 16."""
    if spec["kind"] in ("buffer", "table"):
        return not spec.get("unaligned")
    return spec["kind"] == "scalar" and spec["dtype"].startswith("i") and spec["value"] % 16 == 0


def build(folder: Path, request: dict[str, Any]) -> None:
    """Compile the kernel of a request, and write the PTX and the description of the launch.

    A request names the Triton function, the target, the description, and the constants of the kernel.
    """
    fn, case, target = request["fn"], request["case"], request["target"]
    signature = {name: triton_type(spec) for name, spec in case.args.items()}
    constants: dict[str, Any] = request["constants"]
    signature |= dict.fromkeys(constants, "constexpr")
    attrs = {(fn.arg_names.index(name),): [["tt.divisibility", 16]] for name, s in case.args.items() if is_aligned(s)}
    ordered = {name: signature[name] for name in fn.arg_names}
    if fn.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource as source_type
    else:
        source_type = ASTSource
    source = source_type(fn=fn, signature=ordered, constexprs=constants, attrs=attrs)
    binary = triton.compile(source, target=GPUTarget("cuda", target, 32), options=request["options"])
    text = binary.asm["ptx"]
    threads = re.search(r"\.reqntid (\d+)", text) or re.search(r"\.maxntid (\d+)", text)
    assert threads is not None
    case.block, case.shared, case.entry = (int(threads[1]),), binary.metadata.shared, binary.metadata.name
    case.scratch = binary.metadata.global_scratch_size
    ctas = re.search(r"\.reqnctapercluster (\d+)", text)
    if ctas is not None:
        case.cluster = (int(ctas[1]), 1, 1)
        case.grid = (case.grid[0] * int(ctas[1]), *case.grid[1:])
    case.args = {name: case.args[name] for name in fn.arg_names if name in case.args}
    case.args |= {".global_scratch": {"kind": "scratch"}, ".profile_scratch": {"kind": "null"}}
    case.write(folder, text)


def main() -> int:
    """Compile the kernels that the command line selects. Return 1 if a kernel failed, otherwise 0."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    failed = compiled = 0
    for module in MODULES:
        try:
            requests = importlib.import_module(f"warploom_lab.compiled.triton.{module}").requests()
        except ImportError as error:  # older versions of Triton lack some functions
            print(f"the kernels of {module}.py need Triton 3.9: {error}", file=sys.stderr)
            continue
        for request in requests:
            name = request["case"].name
            if words and not any(word in name for word in words):
                continue
            try:
                build(folder, request)
                compiled += 1
            except Exception as error:
                failed += 1
                last = traceback.format_exception_only(error)[-1].strip().splitlines()
                print(f"{name}: {(last or [''])[-1][:300]}", file=sys.stderr)
    print(f"{compiled} Triton kernels, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
