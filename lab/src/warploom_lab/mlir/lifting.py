"""Record of MLIR's verdicts on lifted PTX modules.

for name, ptx in modules(tests).items(): print(name, read(folder)[name].digest == digest(ptx))
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from warploom.nvvm import lower
from warploom_lab.mlir.tools import Tools

HEADER = "record.json"
COMMAND = "warploom-lab evidence lifting"
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
_REGISTERS = (
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .b128 %q<2>;\n"
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd0;\n"
)
_STORE = "st.global.b32 [%rd1], %r1;\nret;"
_KERNELS = ("kernels", "kernels/bugs", "pairs", "protocol/kernels")


@dataclass(frozen=True)
class Verdict:
    """Digest of a lifted text, and the message of mlir-opt if it refuses the text."""

    digest: str
    refused: str = ""


def kernel(body: str, before: str = "", directives: str = "") -> str:
    """Return a PTX module with the kernel `k`, whose lanes store one word each for `STORE` in the body.

    `before` is the text before the kernel. The kernel has the registers %p, %h, %r, %rd, %f and %q.
    """
    body = body.replace("STORE", _STORE)
    return f"{HEAD}{before}\n.visible .entry k(.param .u64 out) {directives} {{\n{_REGISTERS}{body}\n}}\n"


def written_modules(tests: Path) -> dict[str, tuple[str, bool]]:
    """Return the modules of the file `nvvm/modules.toml`: the PTX, and True if the kernel `k` can run."""
    entries = tomllib.loads((tests / "nvvm" / "modules.toml").read_text(encoding="utf-8"))
    found: dict[str, tuple[str, bool]] = {}
    for name, entry in entries.items():
        can_run = entry.pop("run", True)
        found[name] = (entry["text"] if "text" in entry else kernel(**entry), can_run)
    return found


def modules(tests: Path) -> dict[str, str]:
    """Return the PTX modules that are lifted by name: kernels of the corpus and the sanitizer, and written modules."""
    folders = [tests / "corpus", *(tests / "observe" / "sanitize" / each for each in _KERNELS)]
    paths = [path for folder in folders for path in sorted(folder.glob("*.ptx"))]
    found = {path.relative_to(tests).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return found | {name: text for name, (text, _) in written_modules(tests).items()}


def lifted(ptx: str) -> str:
    """Return the MLIR text of a PTX module."""
    return lower(ptx, "ptx", "nvvm")


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, tests: Path, tools: Tools, header: Mapping[str, object]) -> list[str]:
    """Lift every module, query mlir-opt, write the record, and return a sentence for each refused text."""
    texts = {name: lifted(ptx) for name, ptx in modules(tests).items()}
    printed = tools.printed(list(texts.values()))
    found = {
        name: Verdict(digest(text), "" if accepted else tools.message(text) or "no output")
        for (name, text), accepted in zip(texts.items(), printed, strict=True)
    }
    record = {
        **header,
        "modules": len(found),
        "refused": sum(bool(each.refused) for each in found.values()),
        "verdicts": {name: {k: v for k, v in asdict(each).items() if v} for name, each in found.items()},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER).write_text(json.dumps(record, indent=1) + "\n")
    return [f"{name}: {each.refused}" for name, each in found.items() if each.refused]


def read(folder: Path) -> dict[str, Verdict]:
    """Return the recorded verdicts by the name of the module."""
    record = json.loads((folder / HEADER).read_text())
    return {name: Verdict(**each) for name, each in record["verdicts"].items()}
