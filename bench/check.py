"""Compare the speed of `check` with that of `ptxas -O0` on the same PTX, in one run.

    python bench/check.py [FILE.ptx …] [--ptxas PTXAS] [--size BYTES] [--rounds N]

The kernels of each file are repeated until the module has 300,000 bytes. The fastest of N rounds counts. The exit
status is 1 if a module has errors, or if the first `check` of any module is slower than ptxas.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import warploom as wl

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"
USUAL = ("flash_fwd_f16_d128_causal_sm90", "gemm_f16_nn_sm90", "gemm_s8_tn_sm80", "micro_sm90a", "softmax_bf16_sm90")


def enlarged(text: str, size: int) -> str:
    """Return a module in which the kernels are repeated under numbered names until it has `size` bytes."""
    text = re.sub(r"^\s*\.(?:loc|file)\s.*$", "", re.split(r"\t?\.section", text)[0], flags=re.MULTILINE)
    head, _, body = text.replace(", debug", "").partition(".address_size 64")
    names = sorted(
        set(re.findall(r"\.(?:entry|func)\s+([\w$]+)|^\.(?:extern|global)[^;]*?([\w$]+)(?:\[|;)", body, re.MULTILINE))
    )
    known = {name for pair in names for name in pair if name}
    copies = [body]
    while len(head) + sum(map(len, copies)) < size:
        number = len(copies)
        copy = re.sub(r"[\w$]+", lambda m, n=number: f"{m[0]}__{n}" if m[0] in known else m[0], body)
        copies.append(copy)
    return f"{head}.address_size 64{''.join(copies)}"


def main() -> int:
    """Print the table and return the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--ptxas", default="ptxas")
    arguments.add_argument("--size", type=int, default=300_000)
    arguments.add_argument("--rounds", type=int, default=3)
    options = arguments.parse_args()
    if shutil.which(options.ptxas) is None:
        print(f"{options.ptxas} is not an executable", file=sys.stderr)
        return 2
    files: list[Path] = options.files or [CORPUS / f"{name}.ptx" for name in USUAL]
    table = Table(title=f"check and ptxas -O0, best of {options.rounds} rounds")
    for heading in ("file", "kB", "instructions", "check first ms", "check ms", "ptxas ms", "ratio"):
        table.add_column(heading, justify="left" if heading == "file" else "right")
    slower = False
    for path in files:
        text = enlarged(path.read_text(encoding="utf-8"), options.size)
        module = wl.parse(text)
        instructions = sum(
            1 for function in module.functions.values() if function.body for _ in function.body.instructions()
        )
        seconds: list[float] = []
        for _ in range(options.rounds):
            start = time.perf_counter()
            report = wl.check(text)
            seconds.append(time.perf_counter() - start)
            if not report.ok:
                print(f"{path}: {report.errors[0]}", file=sys.stderr)
                return 1
        assembler = min(assembled(options.ptxas, text, module.target[0]) for _ in range(options.rounds))
        best = min(seconds)
        slower |= seconds[0] > assembler
        cells = (len(text) / 1e3, instructions, seconds[0] * 1e3, best * 1e3, assembler * 1e3)
        table.add_row(path.stem, *(f"{cell:,.0f}" for cell in cells), f"{assembler / best:.1f}")
    console = Console()
    console.print(table)
    version = subprocess.run([options.ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    console.print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    console.print(version.strip().splitlines()[-1])
    return int(slower)


def assembled(ptxas: str, text: str, target: str) -> float:
    """Return the seconds of one run of `ptxas -O0`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.ptx"
        path.write_text(text, encoding="utf-8")
        command = [ptxas, "-O0", f"-arch={target}", str(path), "-o", str(Path(folder) / "k.cubin")]
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
