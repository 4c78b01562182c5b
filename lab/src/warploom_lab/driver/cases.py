"""Run all cases with the driver library of this machine, and write the answers as JSON.

    PYTHONPATH=lab/src python3 -m warploom_lab.driver.cases --record h100.json

The cases need only Python's standard library.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from warploom_lab.driver.case import CASES, Driver, Isolation, SetupError, Word

AREAS = (
    "calls", "contexts", "memory", "pointers", "copies", "modules", "libraries", "launches", "failures", "streams",
    "capture", "graphs", "graph_memory", "occupancy", "tensor_maps",
)  # fmt: skip
"""Modules of this package that have cases."""
_SECONDS = 60
"""Time after which a case is ended."""
_SETUP = "setup"
"""Name of the answer of a case whose setup failed."""

for _area in AREAS:
    import_module(f"warploom_lab.driver.{_area}")


class RecordError(Exception):
    """Record that cannot be made, read or written. The message is a sentence for the user."""


def _run(library: ctypes.CDLL, name: str) -> list[list[object]]:
    """Run a case in the primary context, and return its answers."""
    cuda = Driver(library)
    try:
        if not name.startswith("calls.before_"):
            cuda.require("cuInit", 0)
            context = cuda.new("cuDevicePrimaryCtxRetain", 0)
            cuda.require("cuCtxSetCurrent", context)
        CASES[name].run(cuda)
    except SetupError as error:
        cuda.note(_SETUP, str(error))
    if CASES[name].isolation is Isolation.FRESH:
        while cuda.call("cuCtxPopCurrent_v2", Word()) == 0:
            pass
        cuda.call("cuDevicePrimaryCtxRelease_v2", 0)
        cuda.call("cuDevicePrimaryCtxReset_v2", 0)
    return cuda.answers


def _serve(names: Sequence[str], pipe: Connection) -> None:
    """Run cases one after the other, and send the answers of each."""
    library = ctypes.CDLL("libcuda.so.1")
    for name in names:
        pipe.send(_run(library, name))


def run_cases(names: Sequence[str]) -> Iterator[tuple[str, list[list[object]]]]:
    """Yield the name and the answers of each case. A case that ends its process has one answer, which says so."""
    by_isolation = {kind: [name for name in names if CASES[name].isolation is kind] for kind in Isolation}
    yield from _run_group(by_isolation[Isolation.SHARED])
    yield from _run_group(by_isolation[Isolation.FRESH])
    for name in by_isolation[Isolation.ALONE]:
        yield from _run_group([name])


def _run_group(names: Sequence[str]) -> Iterator[tuple[str, list[list[object]]]]:
    """Run cases in one process.

    After a case that ends the process, or that makes the context useless, the others run in a new one.
    """
    context = multiprocessing.get_context("fork")
    pending = [*names]
    while pending:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(pending, sender))
        process.start()
        sender.close()
        is_first = True
        while pending:
            answers = _receive(receiver)
            if answers is not None and not is_first and answers[-1][0] == _SETUP:
                process.kill()
                break
            if answers is not None:
                yield pending.pop(0), answers
                is_first = False
                continue
            process.kill()
            process.join()
            yield pending.pop(0), [["process", "ended"]]
            break
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()
        receiver.close()


def _receive(receiver: Connection) -> list[list[object]] | None:
    """Return the answers of the next case, or None if its process has ended or needs too long."""
    try:
        return receiver.recv() if receiver.poll(_SECONDS) else None
    except EOFError:
        return None


def _describe() -> dict[str, object]:
    """Return the version of the driver and the name of the device."""
    cuda = Driver(ctypes.CDLL("libcuda.so.1"))
    name = ctypes.create_string_buffer(100)
    version = ctypes.c_int()
    cuda.require("cuInit", 0)
    cuda.require("cuDriverGetVersion", version)
    cuda.require("cuDeviceGetName", name, 100, 0)
    return {"driver": version.value, "device": name.value.decode()}


def _describe_in_process(pipe: Connection) -> None:
    try:
        pipe.send(_describe())
    except (OSError, SetupError):
        pipe.close()


def record(names: Sequence[str]) -> dict[str, Any]:
    """Return the driver's version, the device's name, and the answers of each case by name.

    Errors: RecordError without a driver library or a device.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_describe_in_process, args=(sender,))
    process.start()
    sender.close()
    try:
        described = receiver.recv()
    except EOFError:
        raise RecordError("this machine has no libcuda.so.1 that finds a device") from None
    finally:
        process.join()
    return {**described, "cases": dict(sorted(run_cases(names)))}


def read_record(path: Path) -> dict[str, Any]:
    """Read a record. Errors: RecordError."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecordError(f"the record {path} cannot be read: {error}") from None


def write_record(found: dict[str, Any], path: Path) -> None:
    """Write a record with one line for each case. Errors: RecordError."""
    head = {key: value for key, value in found.items() if key != "cases"}
    lines = [f'  "{name}": {json.dumps(answers)}' for name, answers in found["cases"].items()]
    text = json.dumps(head)[:-1] + ', "cases": {\n' + ",\n".join(lines) + "\n}}\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"the record {path} cannot be written: {error.strerror}") from None


def differences(found: dict[str, Any], expected: dict[str, Any]) -> Iterator[str]:
    """Yield a text for each case of both records whose answers differ, or that only one of them has."""
    ours, theirs = found["cases"], expected["cases"]
    for name in sorted({*ours, *theirs}):
        if name not in ours or name not in theirs:
            yield f"{name}: only in {'the record' if name in theirs else 'this run'}"
        elif ours[name] != theirs[name]:
            yield f"{name}: {_first_difference(ours[name], theirs[name])}"


def _first_difference(ours: list[Any], theirs: list[Any]) -> str:
    """Describe each position at which two lists of answers differ."""
    pairs = [(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    texts = [f"#{i} {a[0]} {json.dumps(a[1])}, expected {json.dumps(b[1])}" for i, a, b in pairs]
    if len(ours) != len(theirs):
        texts.append(f"{len(ours)} answers, expected {len(theirs)}")
    return "; ".join(texts)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("words", nargs="*", help="run cases whose names contain one of the words")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the answers to this file")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="list the cases that differ from this record")


def run(options: argparse.Namespace) -> int:
    """Run the cases, write or compare the answers, and return the exit status. Errors: RecordError."""
    words: list[str] = options.words
    names = [name for name in CASES if not words or any(word in name for word in words)]
    found = record(names)
    if options.record is not None:
        write_record(found, options.record)
    sys.stdout.write(f"{len(found['cases'])} cases on {found['device']} with driver {found['driver']}\n")
    if options.compare is None:
        if options.record is None:
            for name, answers in found["cases"].items():
                sys.stdout.write(f"{name}: {json.dumps(answers)}\n")
        return 0
    expected = read_record(options.compare)
    if words:
        expected["cases"] = {name: each for name, each in expected["cases"].items() if name in names}
    found = json.loads(json.dumps(found))
    texts = [*differences(found, expected)]
    sys.stdout.write("".join(f"{text}\n" for text in texts) + f"{len(texts)} cases differ\n")
    return int(bool(texts))


def main() -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser(description="Compare the status codes of the CUDA driver with a record.")
    add_options(parser)
    try:
        return run(parser.parse_args())
    except RecordError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
