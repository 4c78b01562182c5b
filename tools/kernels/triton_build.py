"""Compile Triton and Gluon kernels without a GPU: `python triton_build.py FOLDER [WORD…]`, in an interpreter that has Triton 3.9."""

# ruff: noqa: T201

from __future__ import annotations

import importlib
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import triton
from describe import Spec
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

MODULES = (
    "triton_gemm",
    "triton_attention",
    "triton_rows",
    "triton_elementwise",
    "triton_memory",
    "triton_models",
    "gluon_kernels",
)


def triton_type(spec: Spec) -> str:
    """The signature word of an argument."""
    if spec["kind"] == "tensor":
        box = ",".join(str(n) for n in spec["box"])
        layout = f",{spec['layout']}" if spec.get("layout") else ""
        return f"tensordesc<{spec['dtype']}[{box}]{layout}>"
    return f"*{spec['dtype']}" if spec["kind"] == "buffer" else spec["dtype"]


def aligned(spec: Spec) -> bool:
    """Whether Triton would be told that the argument is a multiple of 16."""
    if spec["kind"] == "buffer":
        return not spec.get("unaligned")
    return spec["kind"] == "scalar" and spec["dtype"].startswith("i") and spec["value"] % 16 == 0


def build(folder: Path, request: dict[str, Any]) -> None:
    """Compile one request for its target and describe its launch."""
    fn, case, target = request["fn"], request["case"], request["target"]
    signature = {name: triton_type(spec) for name, spec in case.args.items()}
    constants: dict[str, Any] = request["constants"]
    signature |= dict.fromkeys(constants, "constexpr")
    attrs = {
        (fn.arg_names.index(name),): [["tt.divisibility", 16]] for name, s in case.args.items() if aligned(s)
    }
    ordered = {name: signature[name] for name in fn.arg_names}
    if fn.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource as source_type
    else:
        source_type = ASTSource
    source = source_type(fn=fn, signature=ordered, constexprs=constants, attrs=attrs)
    compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options=request["options"])
    text = compiled.asm["ptx"]
    threads = re.search(r"\.reqntid (\d+)", text) or re.search(r"\.maxntid (\d+)", text)
    assert threads is not None
    case.block, case.shared, case.entry = (int(threads[1]),), compiled.metadata.shared, compiled.metadata.name
    case.scratch = compiled.metadata.global_scratch_size
    ctas = re.search(r"\.reqnctapercluster (\d+)", text)
    if ctas is not None:
        case.cluster = (int(ctas[1]), 1, 1)
        case.grid = (case.grid[0] * int(ctas[1]), *case.grid[1:])
    case.args = {name: case.args[name] for name in fn.arg_names if name in case.args}
    case.args |= {".global_scratch": {"kind": "scratch"}, ".profile_scratch": {"kind": "null"}}
    case.write(folder, text)


def main() -> int:
    """Build everything whose name holds one of the words, or everything."""
    folder, words = Path(sys.argv[1]), sys.argv[2:]
    failed = made = 0
    for module in MODULES:
        for request in importlib.import_module(module).requests():
            name = request["case"].name
            if words and not any(word in name for word in words):
                continue
            try:
                build(folder, request)
                made += 1
            except Exception as error:
                failed += 1
                last = traceback.format_exception_only(error)[-1].strip().splitlines()
                print(f"{name}: {(last or [''])[-1][:300]}", file=sys.stderr)
    print(f"{made} Triton kernels, {failed} that Triton would not compile")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
