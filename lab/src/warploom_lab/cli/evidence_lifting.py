"""`warploom-lab evidence lifting`: verdicts of MLIR on lifted PTX modules."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Callable
from pathlib import Path

from warploom_lab.cli import campaign_options
from warploom_lab.cli.status import DIFFERENT, OK, add_verb

_TESTS = Path("tests")
_RECORD = _TESTS / "evidence" / "lifting"


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `lifting` to the kinds of evidence."""
    parser = add_verb(
        add,
        "lifting",
        run,
        summary="verdicts of MLIR on lifted PTX modules",
        description="Lift the PTX modules of the tests to MLIR, and record whether mlir-opt parses and verifies them.",
        exit_status="0 success; 1 mlir-opt refuses a text; 2 the query could not run",
    )
    campaign_options.declare_record_folder(parser, _RECORD)


def run(options: argparse.Namespace) -> int:
    """Lift the modules, query mlir-opt, write the record, print refused texts, and return the exit status.

    Errors: UsageError if a tool of MLIR is missing
    """
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # the modules below import it
    from warploom_lab.mlir.lifting import COMMAND, write
    from warploom_lab.mlir.tools import provide

    tools = provide()
    header = {
        "command": COMMAND,
        "asked": dt.datetime.now(dt.UTC).date().isoformat(),
        "mlir": tools.release,
        "pipeline": f"warploom lower MODULE.ptx --to nvvm | {tools.opt.name}",
    }
    refused = write(options.record, _TESTS, tools, header)
    print("\n".join([*refused, f"mlir-opt refuses {len(refused)} of the lifted texts"]))
    return DIFFERENT if refused else OK
