"""Tensor copies on a GPU and on the emulator, and the comparison of the resulting memories."""

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
from warploom_lab.ptxas.instruction_text import instruction, opcode_words

_THREADS = 128
_SM = 90  # of the H200 that gave the recorded answers
_SPINS = {"cpu": 1, "cuda": 20_000}
_DIGEST = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a tensor copy on one device.

    `verdict` is "done", "refused" (the tensor map is illegal), "trapped", "hung" or "failed". `words` is the message,
    or "" if the verdict is "done". `shared` and `memory` are the shared and global memory after the copy. `steps` has a
    number for each CTA: the completions of 16 bytes that end the phase of its mbarrier after the copy. One completion
    is enough if the copy completed exactly the expected bytes.
    """

    verdict: str
    steps: tuple[int, ...] = ()
    shared: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    memory: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    words: str = ""

    def digest(self) -> int:
        """Return an eight-byte digest of the result, without the message."""
        head = f"{self.verdict} {self.steps}".encode()
        content = blake2b(head + self.shared.tobytes() + self.memory.tobytes(), digest_size=_DIGEST)
        return int.from_bytes(content.digest(), "little")


class _Unvalidated(TensorMap):
    """Tensor map that is not validated on the host. The device decides whether it is legal."""

    def fields(self, global_address: int) -> TensorMapFields:
        """Return the fields of the tensor map for a tensor at a global address."""
        return replace(self.template, global_address=global_address)


def answer(case: TensorCase, device: str) -> Answer:
    """Run a tensor copy on a device, "cpu" (the emulator) or "cuda". Return its result."""
    if message := _refusal(case.map, device):
        return Answer("refused", words=message)
    if case.action == "verdict":
        return Answer("done")
    memory, shared = case.global_memory(), case.shared_memory()
    after = np.zeros((case.cluster, case.extent), np.uint8)
    steps = np.zeros(case.cluster, np.uint32)
    tensor_map = _Unvalidated(memory[case.map.global_address :], replace(case.map, global_address=0))
    indices = [*case.coordinates, *[0] * (5 - len(case.coordinates)), *case.offsets, *[0] * (3 - len(case.offsets))]
    arguments: list[Any] = [tensor_map, memory, shared, after, steps, case.extent, case.start, case.expected]
    # The kernel expects 16 bytes more than the case, and completes 16 bytes at a time until the phase ends.
    arguments += [_SPINS[device], case.mask or 1, *indices]
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
    """Return the message with which a device refuses a tensor map, or ""."""
    placed = replace(made, global_address=(1 << 32) + made.global_address)
    if device == "cpu":
        # The driver of an H200 refuses elements narrower than a byte, which come with sm_100.
        narrow = [f"elements of {made.element_type} on sm_{_SM}; expected sm_100 or newer"] * (made.element_bits < 8)
        return "; ".join((*placed.validate(), *narrow))
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
            operands = ["[%start]", source, "[%bar]", offsets, "%mask" if multicast else ""]
        case "prefetch":
            form = tensor.PREFETCH_IM2COL if im2col else tensor.PREFETCH
            operands = [source, offsets]
        case "store":
            form = tensor.STORE_IM2COL if im2col else tensor.STORE
            operands = [source, "[%start]"]
        case _:
            form = tensor.REDUCE_IM2COL if im2col else tensor.REDUCE
            operands = [source, "[%start]"]
    statements = [_statement(form, slots, operands)]
    if action in ("store", "reduce"):
        statements += [_statement(bulk.COMMIT, {}, []), _statement(bulk.WAIT_GROUP, {}, ["0"])]
    text = (files("warploom_lab.campaign") / "tensor.ptx").read_text()
    return parse(Template(text).substitute(copy="\n    ".join(statements)))


def _statement(form: Form, slots: dict[str, str], operands: Sequence[str]) -> str:
    return instruction(opcode_words(form, defaultdict(str, slots)), [operand for operand in operands if operand])


# Comparing --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorOutcome:
    """Results of a tensor copy on a GPU (`real`) and on the emulator (`emulated`).

    `digest` is the digest of the GPU's result. If the results are the same, both are without memories.
    """

    case: TensorCase
    real: Answer
    emulated: Answer
    digest: int
    same: bool

    def __str__(self) -> str:
        gpu, emulator = self.real, self.emulated
        if gpu.verdict != emulator.verdict:
            difference = (
                f"the GPU's verdict is {gpu.verdict} {gpu.words!r}, the emulator's {emulator.verdict}"
                f" {emulator.words!r}"
            )
        elif gpu.steps != emulator.steps:
            difference = f"the GPU's mbarriers still expect {gpu.steps} times 16 bytes, the emulator's {emulator.steps}"
        else:
            difference = _first_difference("shared memory", gpu.shared, emulator.shared)
            difference = difference or _first_difference("global memory", gpu.memory, emulator.memory)
        return f"{self.case}: {difference}"


def _first_difference(space: str, real: Array, emulated: Array) -> str:
    at = np.flatnonzero(real.reshape(-1) != emulated.reshape(-1))
    if not len(at):
        return ""
    first = int(at[0])
    values = f"the GPU has {real.reshape(-1)[first]:#x}, the emulator {emulated.reshape(-1)[first]:#x}"
    return f"{len(at)} bytes of {space} differ, the first at {first}: {values}"


@dataclass(frozen=True, slots=True)
class TensorTask:
    """Tensor copy, and the device to compare with the emulator.

    `device` is "cuda", or "cpu" to compare the emulator with itself.
    """

    case: TensorCase
    device: str = "cuda"


def compare_task(task: TensorTask) -> TensorOutcome:
    """Run a tensor copy on the device of the task and on the emulator, and compare the results."""
    return outcome_of(task.case, gpu_answer(task), emulated_answer(task.case).digest())


def outcome_of(case: TensorCase, real: Answer, emulated: int) -> TensorOutcome:
    """Compare the result `real` of a device with `emulated`, the digest of the emulator's result."""
    digest = real.digest()
    if digest == emulated:
        kept = Answer(real.verdict, real.steps)
        return TensorOutcome(case, kept, kept, digest, same=True)
    # The outcome needs the emulator's memories, so the emulator runs the copy again.
    return TensorOutcome(case, real, emulated_answer(case), digest, same=False)


def gpu_answer(task: TensorTask) -> Answer:
    """Run the copy on the device of a task. Return its result; an error has the verdict "failed"."""
    try:
        return answer(task.case, task.device)
    except WarploomError as error:
        return Answer("failed", words=str(error))


def is_reusable(outcome: TensorOutcome) -> bool:
    """Return True if the process that ran this copy on a GPU can run another copy."""
    return is_reusable_after(outcome.real)


def is_reusable_after(real: Answer) -> bool:
    """Return True if a process can run another copy on its GPU after the result `real`."""
    return real.verdict not in ("trapped", "failed")


def lost(task: TensorTask) -> TensorOutcome:
    """Return the outcome of a copy if the process that ran it ended or did not answer in time."""
    real = hung(task)
    return TensorOutcome(task.case, real, emulated_answer(task.case), real.digest(), same=False)


def hung(_: TensorTask) -> Answer:
    """Return the GPU's result of a copy if the process that ran it ended or did not answer in time."""
    return Answer("hung")


def emulated_answer(case: TensorCase) -> Answer:
    """Run a tensor copy on the emulator. Return its result; an error has the verdict "failed"."""
    try:
        return answer(case, "cpu")
    except WarploomError as error:
        return Answer("failed", words=str(error))
