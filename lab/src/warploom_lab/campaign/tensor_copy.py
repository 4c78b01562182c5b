"""Tensor copies on the GPU and on the abstract machine: what each leaves, byte for byte."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError, WarploomError
from warploom.emulator.faults import Deadlock, Trap
from warploom.gpu import DeviceFault, Gpu, encode_tensor_map
from warploom.isa.instructions import bulk, tensor
from warploom.isa.model.form import Form
from warploom.layout import TensorMap, TensorMapFields
from warploom.ptx import Module, parse
from warploom.runtime.api import launch
from warploom_lab.campaign.experiment import Array
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.ptxas.spell import instruction, opcode_words

_THREADS = 128
_SM = 90  # the recorded answers are an H200's
_SPINS = {"cpu": 1, "cuda": 20_000}
_DIGEST = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """What a device did with a case.

    `verdict` is "done", "refused" (the map), "trapped" or "hung"; with "done", `steps` says of each CTA how
    many times 16 bytes its mbarrier lacked, 16 bytes having been added to what the copy was to complete.
    """

    verdict: str
    steps: tuple[int, ...] = ()
    shared: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    memory: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    words: str = ""

    def digest(self) -> int:
        """Eight bytes that stand for the answer; equal when the verdict and every byte are."""
        said = f"{self.verdict} {self.steps}".encode()
        content = blake2b(said + self.shared.tobytes() + self.memory.tobytes(), digest_size=_DIGEST)
        return int.from_bytes(content.digest(), "little")


class _Unjudged(TensorMap):
    """A map that is handed on as it is, so that the device judges it."""

    def fields(self, global_address: int) -> TensorMapFields:
        """The map at its place."""
        return replace(self.template, global_address=global_address)


def answer(case: TensorCase, device: str) -> Answer:
    """What a device, "cpu" or "cuda", does with a case."""
    if words := _refusal(case.map, device):
        return Answer("refused", words=words)
    if case.action == "verdict":
        return Answer("done")
    memory, shared = case.global_memory(), case.shared_memory()
    after = np.zeros((case.cluster, case.extent), np.uint8)
    steps = np.zeros(case.cluster, np.uint32)
    tensor_map = _Unjudged(memory[case.map.global_address :], replace(case.map, global_address=0))
    places = [
        *case.coordinates,
        *[0] * (5 - len(case.coordinates)),
        *case.offsets,
        *[0] * (3 - len(case.offsets)),
    ]
    arguments: list[Any] = [tensor_map, memory, shared, after, steps, case.extent, case.start, case.expected]
    arguments += [_SPINS[device], case.mask or 1, *places]
    try:
        launch(
            _kernel(case.action, case.map.rank, case.map.is_im2col, case.mask != 0, case.reduction),
            grid=case.cluster,
            block=_THREADS,
            cluster=case.cluster,
            args=arguments,
            shared=case.extent + 16,
            device="cuda" if device == "cuda" else "cpu",
        )
    except (DeviceFault, Trap, Deadlock) as error:
        return Answer("trapped", words=str(error))
    return Answer("done", tuple(steps.tolist()), after, memory)


def _refusal(made: TensorMapFields, device: str) -> str:
    """Why a device makes no such map; empty where it makes it. Both look at an address of many zeros."""
    placed = replace(made, global_address=(1 << 32) + made.global_address)
    if device == "cpu":
        return "; ".join((*placed.validate(), *placed.unsupported_on(_SM)))
    try:
        with Gpu():
            encode_tensor_map(placed)
    except UsageError as error:
        if any(each.code == "gpu.tensor-map" for each in error.diagnostics):
            return str(error)
        raise
    return ""


# The kernel -------------------------------------------------------------------------------------------------


@cache
def _kernel(action: str, rank: int, im2col: bool, multicast: bool, reduction: str) -> Module:
    coordinates = "{" + ", ".join(f"%x{axis}" for axis in range(rank)) + "}"
    offsets = "{" + ", ".join(f"%y{axis}" for axis in range(rank - 2)) + "}" if im2col else ""
    slots = {"dim": f"{rank}d", "dst": "shared::cluster", "src": "shared::cta", "load_mode": "im2col"}
    slots |= {"multicast": "multicast::cluster" if multicast else "", "redOp": reduction}
    source = f"[%map, {coordinates}]"
    match action:
        case "load":
            form = tensor.LOAD_IM2COL if im2col else tensor.LOAD
            places = ["[%start]", source, "[%bar]", offsets, "%mask" if multicast else ""]
        case "prefetch":
            form = tensor.PREFETCH_IM2COL if im2col else tensor.PREFETCH
            places = [source, offsets]
        case "store":
            form = tensor.STORE_IM2COL if im2col else tensor.STORE
            places = [source, "[%start]"]
        case _:
            form = tensor.REDUCE_IM2COL if im2col else tensor.REDUCE
            places = [source, "[%start]"]
    statements = [_statement(form, slots, places)]
    if action in ("store", "reduce"):
        statements += [_statement(bulk.COMMIT, {}, []), _statement(bulk.WAIT_GROUP, {}, ["0"])]
    text = (files("warploom_lab.campaign") / "tensor.ptx").read_text()
    return parse(Template(text).substitute(copy="\n    ".join(statements)))


def _statement(form: Form, slots: dict[str, str], places: Sequence[str]) -> str:
    return instruction(opcode_words(form, defaultdict(str, slots)), [place for place in places if place])


# Comparing --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorOutcome:
    """A case on two devices. The answers have their bytes where they differ alone."""

    case: TensorCase
    real: Answer
    modelled: Answer
    digest: int
    same: bool

    def __str__(self) -> str:
        real, modelled = self.real, self.modelled
        if real.verdict != modelled.verdict:
            what = f"the GPU's verdict is {real.verdict} {real.words!r}, ours {modelled.verdict} {modelled.words!r}"
        elif real.steps != modelled.steps:
            what = f"the mbarriers of the GPU lacked {real.steps} times 16 bytes, ours {modelled.steps}"
        else:
            what = _first("shared memory", real.shared, modelled.shared) or _first(
                "global memory", real.memory, modelled.memory
            )
        return f"{self.case}: {what}"


def _first(where: str, real: Array, modelled: Array) -> str:
    at = np.flatnonzero(real.reshape(-1) != modelled.reshape(-1))
    if not len(at):
        return ""
    first = int(at[0])
    found = real.reshape(-1)[first], modelled.reshape(-1)[first]
    bytes_ = f"the GPU has {found[0]:#x}, the machine {found[1]:#x}"
    return f"{len(at)} bytes of {where} differ, the first at {first}: {bytes_}"


@dataclass(frozen=True, slots=True)
class TensorTask:
    """A case to be compared on a device: "cuda", or "cpu" to compare the machine with itself."""

    case: TensorCase
    device: str = "cuda"


def compare_task(task: TensorTask) -> TensorOutcome:
    """Run a case on a device and on the machine."""
    real = real_answer(task)
    return outcome_of(task.case, real, modelled_answer(task.case).digest())


def outcome_of(case: TensorCase, real: Answer, modelled: int) -> TensorOutcome:
    """What comes of a device's answer and the digest of the machine's, which is asked for its bytes if they differ."""
    digest = real.digest()
    if digest == modelled:
        kept = Answer(real.verdict, real.steps)
        return TensorOutcome(case, kept, kept, digest, same=True)
    return TensorOutcome(case, real, modelled_answer(case), digest, same=False)


def real_answer(task: TensorTask) -> Answer:
    """What a device does with a case; where it fails, its words."""
    try:
        return answer(task.case, task.device)
    except WarploomError as error:
        return Answer("failed", words=str(error))


def survives(outcome: TensorOutcome) -> bool:
    """Whether the process that made an outcome can use its GPU again."""
    return survives_answer(outcome.real)


def survives_answer(real: Answer) -> bool:
    """Whether the process that got an answer can use its GPU again."""
    return real.verdict not in ("trapped", "failed")


def lost(task: TensorTask) -> TensorOutcome:
    """The outcome of a case in which a process was lost."""
    real = hung(task)
    return TensorOutcome(task.case, real, modelled_answer(task.case), real.digest(), same=False)


def hung(_: TensorTask) -> Answer:
    """The answer of a device whose process was lost."""
    return Answer("hung")


def modelled_answer(case: TensorCase) -> Answer:
    """What the abstract machine does with a case; where it fails, its words."""
    try:
        return answer(case, "cpu")
    except WarploomError as error:
        return Answer("failed", words=str(error))
