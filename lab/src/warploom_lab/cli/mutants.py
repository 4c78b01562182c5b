"""`warploom-lab mutants`: insert errors into compiled kernels, which the emulator or the sanitizer must find."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from warploom_lab.cli.campaign_options import require_positive_workers
from warploom_lab.cli.status import DIFFERENT, OK, add_verb, print_table

if TYPE_CHECKING:
    from warploom_lab.mutants.run import Outcome

_DESCRIPTION = """\
Insert one error at a time into the Blackwell kernels that `warploom-lab kernels` compiled into the folders, and run
each mutant with the sanitizer under the schedules eager, lazy and random:1, until it is found.

A mutant is found if the sanitizer reports a rule that its kind breaks, if the emulator refuses the operation, or, for
some kinds, if the result is wrong. A mutant that is correct by the PTX manual must have no finding. The table has the
number of mutants by kind and kernel. Each wrong outcome is listed.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "mutants",
        run,
        summary="insert errors into compiled Blackwell kernels, which the sanitizer must find",
        description=_DESCRIPTION,
        exit_status="0 success; 1 a mutant is missed, misnamed or wrongly reported",
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folder with compiled kernels")
    parser.add_argument(
        "--kernel", action="append", default=[], metavar="WORD", help="kernels whose names contain WORD"
    )
    parser.add_argument("--kind", action="append", default=[], metavar="WORD", help="kinds whose names contain WORD")
    parser.add_argument("--sites", type=int, default=2, metavar="N", help="mutants of each kind and kernel (2)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="number of mutants that run at a time (1)")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the outcomes as JSON data")


def run(options: argparse.Namespace) -> int:
    """Run the mutants, print the table and return the exit status."""
    from warploom.diagnostics import UsageError
    from warploom_lab.mutants.kinds import KINDS
    from warploom_lab.mutants.run import RIGHT, Outcome, record, run_all
    from warploom_lab.mutants.subjects import SUBJECTS

    require_positive_workers(options)
    if options.sites < 1:
        raise UsageError(f"--sites is {options.sites}; expected a positive number")
    subjects = [each for each in SUBJECTS if _is_chosen(each.name, options.kernel)]
    kinds = [kind for kind in KINDS if _is_chosen(kind, options.kind)]
    found: list[Outcome] = []
    for each in run_all(options.folders, subjects, kinds, sites=options.sites, workers=options.workers):
        found.append(each)
        if each.verdict not in RIGHT:
            print(f"{each.verdict}: {each.key} line {each.line}: {', '.join(each.codes) or 'nothing'}", flush=True)
    if not found:
        raise UsageError("the folders have none of the kernels; compile them with `warploom-lab kernels FOLDER`")
    mutants = [each for each in found if each.kind]
    kernels = list(dict.fromkeys(each.kernel for each in found))
    rows = [
        [kind, *(_cell([each for each in mutants if (each.kernel, each.kind) == (kernel, kind)]) for kernel in kernels)]
        for kind in kinds
    ]
    print_table(["kind", *(str(k + 1) for k in range(len(kernels)))], rows)
    print("\n".join(f"{k + 1}: {kernel}" for k, kernel in enumerate(kernels)))
    counts = {
        verdict: sum(each.verdict == verdict for each in mutants) for verdict in sorted({e.verdict for e in mutants})
    }
    print(f"{len(mutants)} mutants of {len(kernels)} kernels: {', '.join(f'{n} {v}' for v, n in counts.items())}")
    if options.record:
        options.record.write_text(json.dumps(record(found), indent=1) + "\n", encoding="utf-8")
    return OK if all(each.verdict in RIGHT for each in found) else DIFFERENT


def _is_chosen(name: str, words: list[str]) -> bool:
    return not words or any(word in name for word in words)


def _cell(found: "list[Outcome]") -> str:
    """Return the cell of a kind and a kernel: mutants found, equivalent ones after +, and wrong ones after !."""
    from warploom_lab.mutants.run import EQUIVALENT, FOUND

    right = sum(each.verdict == FOUND for each in found)
    equivalent = sum(each.verdict == EQUIVALENT for each in found)
    wrong = len(found) - right - equivalent
    return "".join((str(right) if right else "", f"+{equivalent}" if equivalent else "", f"!{wrong}" if wrong else ""))
