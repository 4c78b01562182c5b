"""Programs of launches in `wl.Session`, and the record of their results on a GPU.

From the folder `tests`:

    python -m runtime.programmatic.sessions --record evidence/sequences/h100.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from runtime.programmatic.programs import CORRECT, FAULTY, Launch, Program, Synchronize, Wait, has_map, inputs, text

import warploom as wl
from warploom.gpu import Gpu, driver_release

RUNS = 20


def perform(session: wl.Session, program: Program) -> dict[str, np.ndarray]:
    """Perform the steps of a program, and return its arrays."""
    arrays = {name: session.array(values, name) for name, values in inputs().items()}
    streams = [session.stream() for _ in range(3)]
    tensor = wl.TensorMap.tiled(arrays["b"].reshape(4, 64), (1, 64))
    for step in program.steps:
        match step:
            case Launch(kernel, programmatic, stream):
                args = [*arrays.values(), *([tensor] if has_map(kernel) else [])]
                session.launch(
                    text(), kernel, grid=4, block=64, args=args, programmatic=programmatic, stream=streams[stream]
                )
            case Wait(stream, other):
                streams[stream].wait(streams[other])
            case Synchronize(stream):
                streams[stream].synchronize()
    return {name: array.numpy() for name, array in arrays.items()}


def is_right(program: Program, arrays: dict[str, np.ndarray]) -> bool:
    """Return true if the array that the program computes has the expected values."""
    given = inputs()
    return np.array_equal(arrays[program.name], program.expected(given["a"], given["w"][:256]))


def right_runs(program: Program) -> int:
    """Run a program on the GPU, each time in a new session, and count the right results."""
    count = 0
    for _ in range(RUNS):
        with wl.Session(device="cuda") as session:
            count += is_right(program, perform(session, program))
    return count


def main() -> None:
    """Write the record of all programs."""
    parser = argparse.ArgumentParser(description="Run sequences of launches on the GPU, and record the right results.")
    parser.add_argument("--record", type=Path, required=True)
    path: Path = parser.parse_args().record
    with Gpu() as gpu:
        record: dict[str, object] = {"device": gpu.device.name, "driver": driver_release(), "runs": RUNS}
    for kind, programs in (("correct", CORRECT), ("faulty", FAULTY)):
        record[kind] = {name: right_runs(each) for name, each in programs.items()}
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
