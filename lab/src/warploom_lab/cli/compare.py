"""`warploom-lab compare`: compare instructions and kernels on a GPU and on the emulator, bit for bit."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom_lab.cli import campaign_options, compare_problems, compare_tensor, compare_tensor_memory
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, add_verb, counting, print_table

if TYPE_CHECKING:
    from warploom_lab.campaign import Outcome
    from warploom_lab.campaign.jobs import Selection
    from warploom_lab.work.campaign import Executor, Progress

_KERNELS = "kernels"
_TENSOR = "tensor"
_PROBLEMS = ("gemm", "attention")
_TENSOR_MEMORY = "tcgen05"

_DESCRIPTION = """\
Run instructions on the GPU of this machine and on the emulator. The inputs are difficult: cancelling sums, subnormals,
values near overflow, raw bits with NaN and infinities, signed zeros, integers near their limits, random descriptors,
strides and rows. Print each difference with its bit patterns and coordinates.

`compare kernels` compares small kernels with barriers, clusters, mbarriers, atomics and copies.

`compare tensor` compares --cases copies through random tensor maps: the verdict on the map, every byte of shared and
global memory, and the mbarriers. Each copy runs in a process of its own, because a copy may end its process.

`compare gemm` multiplies --cases random matrices of every type, layout, batch and epilogue with the kernel library, and
compares the results with float64. The emulator also runs --bits of the small ones, and all bits must agree. With
--target, the emulator runs kernels of another target under the sanitizer, without a GPU.

`compare attention` does the same with --cases random problems of attention and its gradients. The sanitizer watches the
kernels on the emulator. With --sanitize, the emulator runs the small cases, without a GPU.

`compare tcgen05` multiplies matrices in tensor memory, with every kind, type and block scale, and compares the results
with the numeric models. It needs a GPU of the Blackwell generation; without one, the emulator runs the kernels.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "compare",
        run,
        summary="compare instructions on a GPU with the emulator",
        description=_DESCRIPTION,
        exit_status="0 all bits agree; 1 differences; 2 the comparison could not run",
    )
    parser.add_argument(
        "name",
        nargs="*",
        help="families, forms or instructions (default: the families of tensor-core programs); or `kernels` with areas "
        "or names of small kernels; or `tensor`; or `gemm`; or `attention`; or `tcgen05`",
    )
    parser.add_argument("--cases", type=int, default=1024, metavar="N", help="inputs of each experiment (1024)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the inputs (1)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run every Nth experiment or copy only")
    _workers.declare(parser, "processes (one for each core)")
    campaign_options.declare_checkpoint(parser)
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="write a sample of the GPU's results; with `gemm` and `attention` this is a folder",
    )
    parser.add_argument(
        "--timeout", type=float, default=60, metavar="S", help="time limit of a small kernel in seconds (60)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare the emulator with a recorded sample, without a GPU"
    )
    parser.add_argument(
        "--differences", type=Path, metavar="FILE", help="with `tensor`: write the differing bytes to a file"
    )
    parser.add_argument(
        "--bits",
        type=int,
        default=100,
        metavar="N",
        help="with `gemm` and `attention`: number of small cases that also run on the emulator (100)",
    )
    parser.add_argument(
        "--target", default="sm_90a", metavar="TARGET", help="with `gemm`: target of the kernels (sm_90a)"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="with `gemm` and `attention`: run this case only")
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="with `gemm` and `attention`: run the small cases on the emulator under the sanitizer, without a GPU",
    )
    parser.add_argument(
        "--no-emulator",
        action="store_true",
        help="with `gemm` and `attention`: record the small cases without running them on the emulator",
    )


def run(options: argparse.Namespace) -> int:
    """Run the selected comparison and return the exit status.

    Errors: UsageError compare.*, dask.*; the errors of a launch on a GPU.
    """
    from warploom_lab.campaign.jobs import Selection

    for name, least in (("cases", 1), ("every", 1), ("workers", 0), ("only", 0), ("bits", 0)):
        value = getattr(options, name)
        if isinstance(value, int) and value < least:
            raise UsageError(f"--{name} is {value}; expected {least} or more", code="compare.option")
    if len(options.name) == 1 and options.name[0] in _PROBLEMS:
        return compare_problems.run(options)
    for name in ("only", "sanitize", "no_emulator"):
        if getattr(options, name) not in (None, False) or {*_PROBLEMS} & {*options.name}:
            expected = " or ".join(f"'{each}'" for each in _PROBLEMS)
            option = name.replace("_", "-")
            raise UsageError(f"--{option} needs the name {expected} and no other name", code="compare.option")
    if options.name == [_TENSOR_MEMORY]:
        return compare_tensor_memory.run(options)
    if options.name == [_TENSOR]:
        return compare_tensor.run(options)
    if _TENSOR in options.name or options.differences is not None:
        raise UsageError(f"--differences needs the name '{_TENSOR}' and no other name", code="compare.option")
    if options.cases % 4:
        raise UsageError(f"--cases is {options.cases}; expected a multiple of 4", code="compare.option")
    if options.name[:1] == [_KERNELS]:
        return _run_small_kernels(options)
    selection = Selection(tuple(options.name), options.every)
    if options.record is not None:
        return _record(options, selection)
    if options.against is not None:
        return _compare_with_sample(options, selection)
    return _compare_with_gpu(options, selection)


def _require_this_process(options: argparse.Namespace, action: str) -> None:
    """Refuse --checkpoint and Dask workers. Errors: UsageError compare.option.

    The message says that `action` runs in this process.
    """
    for name, given in (
        ("--workers", isinstance(options.workers, str)),
        ("--checkpoint", options.checkpoint is not None),
    ):
        if given:
            raise UsageError(
                f"{name} {getattr(options, name[2:])} is not supported: {action} in this process, on its GPU",
                code="compare.option",
            )


def _record(options: argparse.Namespace, selection: Selection) -> int:
    from warploom_lab.campaign import sample

    _require_this_process(options, "a sample is recorded")
    experiments = selection.experiments()
    with counting("running", len(experiments)) as progress:
        begun = iter(range(len(experiments)))
        taken = sample(experiments, "cuda", options.seed, lambda _: progress(next(begun)))
    taken.write(options.record)
    cases = next(iter(taken.digests.values())).size
    print(f"{len(taken.digests)} experiments of {cases} cases in {options.record}")
    return OK


def _compare_with_sample(options: argparse.Namespace, selection: Selection) -> int:
    from warploom_lab.campaign import Sample
    from warploom_lab.campaign.jobs import experiment_against_sample
    from warploom_lab.campaign.sample import key
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import processes

    recorded = Sample.read(options.against)
    names = [key(experiment) for experiment in selection.experiments()]
    campaign = Campaign(
        {**_header("compare --against", options), **campaign_options.file_digest(options.against)},
        experiment_against_sample,
        (selection, recorded),
        [number for number, name in enumerate(names) if name in recorded.digests],
        encode,
        partial(decode, int),
        group=2,
    )
    cases = campaign_options.run_campaign("running", campaign, options, partial(processes, campaign))
    found = [(names[number], case) for number, case in zip(campaign.tasks, cases, strict=True) if case >= 0]
    for name, case in found[:SHOWN]:
        print(f"{name}: case {case} differs from the GPU's result")
    print(f"{len(found)} of {len(recorded.digests)} experiments differ")
    return DIFFERENT if found else OK


def _run_small_kernels(options: argparse.Namespace) -> int:
    """Run small kernels, and record or compare their results."""
    from warploom.gpu import Gpu
    from warploom_lab.campaign.jobs import kernel_against_record
    from warploom_lab.campaign.small_kernels import Mismatch, Record, kernels, output, record
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import processes
    from warploom_lab.work.isolated import IsolatedProcesses

    if not 0 < options.timeout < float("inf"):
        raise UsageError(f"--timeout is {options.timeout}; expected seconds above 0", code="compare.option")
    chosen = kernels(options.name[1:])[:: options.every]
    about: dict[str, Any] = {}
    if options.against is not None:
        recorded, about = Record.read(options.against), campaign_options.file_digest(options.against)
    else:
        _require_this_process(options, "a comparison without --against runs")
        with Gpu() as gpu:  # raises if the machine has no GPU
            print(f"{gpu.name}, driver for CUDA {gpu.driver}")
        pool = IsolatedProcesses(
            partial(output, "cuda"),
            workers=1,
            timeout=options.timeout,
            is_reusable=lambda found: not isinstance(found, str),
            on_loss=lambda _: f"the process ended, or did not answer within {options.timeout:g} s",
        )
        with counting("running", len(chosen)) as progress:
            done = iter(range(1, len(chosen) + 1))
            recorded = record(chosen, pool.results(chosen), lambda: progress(next(done)))
    for name, reason in recorded.failures.items():
        print(f"{name} did not run on the GPU: {reason}")
    if options.record is not None:
        recorded.write(options.record)
        print(f"{len(recorded.outputs)} of {len(chosen)} kernels in {options.record}")
        return DIFFERENT if recorded.failures else OK
    campaign = Campaign(
        {**_header("compare kernels", options), **about},
        kernel_against_record,
        recorded,
        [kernel.key for kernel in chosen if kernel.key not in recorded.failures],
        encode,
        partial(decode, Mismatch | None),
        group=4,
    )
    results = campaign_options.run_campaign("comparing", campaign, options, partial(processes, campaign))
    found = [result for result in results if result is not None]
    for mismatch in found:
        print(mismatch)
    print(f"{len(found)} of {len(results)} kernels differ")
    return DIFFERENT if found or recorded.failures else OK


def _compare_with_gpu(options: argparse.Namespace, selection: Selection) -> int:
    from warploom.integrations.dask.compatibility import Requirements
    from warploom_lab.campaign import Outcome
    from warploom_lab.campaign.jobs import Inputs, experiment_on_gpu
    from warploom_lab.json_data import decode, encode
    from warploom_lab.work.campaign import Campaign
    from warploom_lab.work.executors import processes

    campaign = Campaign(
        {**_header("compare", options), "cases": options.cases, "seed": options.seed},
        experiment_on_gpu,
        Inputs(selection, options.cases, options.seed),
        range(len(selection.experiments())),
        encode,
        partial(decode, Outcome),
        group=2,
    )
    if isinstance(options.workers, int):
        executor = processes(campaign, options.workers)
    else:
        executor = campaign_options.on_dask(campaign, options.workers, Requirements(extras={"cuda.core": "gpu"}))
    return _report(campaign_options.run_with_progress("comparing", campaign, options, _fail_without_gpu(executor)))


def _fail_without_gpu(executor: Executor[int, Outcome]) -> Executor[int, Outcome]:
    """Return an executor that raises UsageError if the first experiment fails."""

    def execute(tasks: Sequence[int], progress: Progress) -> Iterator[Sequence[tuple[int, Outcome]]]:
        first = True
        for batch in executor(tasks, progress):
            # All experiments need the GPU, so the others would fail, too.
            if first and batch[0][1].failure:
                raise UsageError(batch[0][1].failure, code="compare.gpu")
            first = False
            yield batch

    return execute


def _header(command: str, options: argparse.Namespace) -> dict[str, Any]:
    return {"campaign": command, "names": list(options.name), "every": options.every}


def _report(outcomes: Sequence[Outcome]) -> int:
    by_form: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_form.setdefault(outcome.form, []).append(outcome)
    rows = [
        (
            form,
            f"{len(found):,}",
            f"{sum(each.cases for each in found):,}",
            f"{sum(each.outputs for each in found):,}",
            f"{sum(each.mismatches for each in found):,}",
            f"{sum(bool(each.failure) for each in found):,}",
        )
        for form, found in [*by_form.items(), ("all", list(outcomes))]
    ]
    print_table(("form", "experiments", "cases", "outputs", "mismatches", "failures"), rows)
    bad = [outcome for outcome in outcomes if outcome.mismatches or outcome.failure]
    for outcome in bad[:SHOWN]:
        print(f"{outcome.instruction} {outcome.failure or outcome.first}")
    if len(bad) > SHOWN:
        print(f"… and {len(bad) - SHOWN} more experiments")
    return DIFFERENT if bad else OK
