"""`warploom-lab driver`: compare the status codes of the CUDA driver's functions with a record."""

import argparse
from collections.abc import Callable

from warploom.diagnostics import UsageError
from warploom_lab.cli.status import add_verb
from warploom_lab.driver import cases

_DESCRIPTION = """\
Call the functions of libcuda.so.1 in many wrong and unusual ways, and record the status of each call. Without options,
print the answers.

On a machine with a GPU, only Python's standard library is necessary:

    PYTHONPATH=lab/src python3 -m warploom_lab.driver.cases --record FILE

On the emulator:

    warploom exec -- warploom-lab driver --compare FILE
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "driver",
        run,
        summary="record the status codes of the CUDA driver, or compare them with a record",
        description=_DESCRIPTION,
        exit_status="0 no case differs; 1 some cases differ; 2 the cases could not run",
    )
    cases.add_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the cases, and return the exit status. Errors: UsageError if the cases cannot run."""
    try:
        return cases.run(options)
    except cases.RecordError as error:
        raise UsageError(str(error)) from None
