"""Measure the emulator's engines against another checkout of Warploom, in one run.

    python bench/engines.py [SECTION …] --baseline PATH [--kernels FOLDER …] [--only WORD] [--rounds N] [--json FILE]

The baseline is a checkout with a virtual environment in `.venv`. Each measurement is the shortest of several new
processes. The processes of both checkouts take turns, and each process has one thread. The results of both checkouts
must be equal bit for bit. The exit status is 1 if a goal is missed, a launch fails or a result differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from engine_checkouts import Checkout
from engine_matrix_sections import measure_attention, measure_gemm, measure_observers, measure_workers
from engine_report import Section
from engine_sections import Bench, measure_fma, measure_kernels, measure_sgemm
from engine_start_sections import measure_modules
from engine_triton_section import measure_triton
from mma import processor
from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
SECTIONS: dict[str, Callable[[Bench], Section]] = {
    "kernels": measure_kernels,
    "fma": measure_fma,
    "sgemm": measure_sgemm,
    "gemm": measure_gemm,
    "attention": measure_attention,
    "observers": measure_observers,
    "workers": measure_workers,
    "modules": measure_modules,
    "triton": measure_triton,
}


def main() -> int:
    """Print the sections that the command line names, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--baseline", type=Path, required=True, help="checkout to compare with")
    parser.add_argument("--kernels", type=Path, nargs="+", default=[], metavar="FOLDER", help="compiled kernels")
    parser.add_argument("--count", type=int, default=40, help="number of compiled kernels (40)")
    parser.add_argument("--only", default="", metavar="WORD", help="kernels with this word in their names")
    parser.add_argument("--triton-python", type=Path, metavar="PYTHON", help="interpreter with Triton 3.9 and PyTorch")
    parser.add_argument("--rounds", type=int, default=3, help="number of processes for each measurement (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this file")
    options = parser.parse_args()
    current, baseline = Checkout("this checkout", ROOT), Checkout("baseline", options.baseline.resolve())
    for checkout in (current, baseline):
        if not checkout.python.exists():
            parser.error(f"{checkout.path} has no .venv/bin/python")
    console = Console(width=150)
    done: dict[str, Section] = {}
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(
            current,
            baseline,
            options.rounds,
            options.kernels,
            options.count,
            options.only,
            options.triton_python,
            Path(scratch),
        )
        for name in options.sections or SECTIONS:
            done[name] = SECTIONS[name](bench)
            done[name].print(console)
            if options.json is not None:
                commits = {checkout.name: commit(checkout) for checkout in (current, baseline)}
                sections = {name: section.data() for name, section in done.items()}
                data = {"processor": processor(), "commits": commits, "sections": sections}
                options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return int(not all(section.passed for section in done.values()))


def commit(checkout: Checkout) -> str:
    """Return the name of the commit of a checkout."""
    command = ["git", "-C", str(checkout.path), "describe", "--always", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
