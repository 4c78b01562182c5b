"""Worker process that compiles LLVM IR: `python -m warploom.nvvm.llvm.worker`.

LLVM ends its process when it cannot select an instruction. Therefore a child of this process compiles each request. A
request and its answer are one line of JSON each.
"""

import json
import os
import re
import resource
import sys
import tempfile
from typing import Any

import llvmlite.binding as llvm

_TRIPLE = "nvptx64-nvidia-cuda"
_IMPLICIT_CLUSTER = b"ptx.implicit_cluster"
"""Attribute that lifting gives to a kernel with `.reqnctapercluster` and without `.explicitcluster`.

LLVM prints both directives, and the worker deletes the second one.
"""
_SECONDS = 300
_BYTES = 16 << 30
"""Limits of one request: CPU time in seconds, and address space in bytes."""


def main() -> None:
    """Answer the requests on standard input until its end."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """Compile in a child process. Return its answer.

    If the child ends without an answer, return LLVM's messages as an error of the stage "select".
    """
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as messages:
        child = os.fork()
        if not child:
            try:
                os.dup2(messages.fileno(), 2)
                resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
                resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                result.write(json.dumps(_compile(**request)).encode())
                result.flush()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        result.seek(0)
        messages.seek(0)
        if answer := result.read():
            return json.loads(answer)
        return {"stage": "select", "message": messages.read().decode(errors="replace")}


def _compile(text: str, cpu: str = "", features: str = "", level: int = 2) -> dict[str, str]:
    """Return {"text": PTX}, or {"text": LLVM IR} without `cpu`, or {"stage": …, "message": …}."""
    stage = "parse"
    if " optnone" in text:
        # These passes add blocks to functions that must not be optimized. No other options have this effect.
        for option in ("--disable-lsr", "--disable-phi-elim-edge-splitting"):
            llvm.set_option("", option)
    try:
        module = llvm.parse_assembly(text)
        stage = "verify"
        module.verify()
        if module.triple and not module.triple.startswith("nvptx64-"):
            raise RuntimeError(f"the target triple is '{module.triple}'; expected {_TRIPLE}")
        if not cpu:
            return {"text": str(module)}
        stage = "select"
        module.triple = module.triple or _TRIPLE
        target = llvm.Target.from_triple(module.triple)
        machine = target.create_target_machine(cpu=cpu, features=features, opt=level)
        module.data_layout = str(machine.target_data)
        ptx = machine.emit_assembly(module)
        for function in module.functions:
            if any(_IMPLICIT_CLUSTER in attribute for attribute in function.attributes):
                ptx = re.sub(rf"(\.entry {re.escape(function.name)}\([^{{]*?)\.explicitcluster\s*", r"\1", ptx)
        return {"text": ptx}
    except RuntimeError as error:
        return {"stage": stage, "message": str(error)}


if __name__ == "__main__":
    main()
