"""Runs of compiled kernels on the emulator, compared with their expected results."""

from __future__ import annotations

import hashlib
import json
import re
import time
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import warploom as wl
from warploom.diagnostics import WarploomError
from warploom_lab.compiled import references
from warploom_lab.compiled.references.matrices import derive
from warploom_lab.compiled.references.registry import REFERENCES
from warploom_lab.work.isolated import IsolatedProcesses

assert references  # the import fills REFERENCES

Array = NDArray[Any]
DTYPES: dict[str, Any] = {
    "fp16": np.float16, "bf16": ml_dtypes.bfloat16, "fp32": np.float32, "fp64": np.float64, "fp8e4nv": ml_dtypes.float8_e4m3fn,
    "fp8e5": ml_dtypes.float8_e5m2, **{f"{k}{w}": np.dtype(f"{k}{w // 8}") for k in "iu" for w in (8, 16, 32, 64)},
}  # fmt: skip
SCHEDULES = ("eager", "lazy", "random:1", "random:2", "random:3")
TIMEOUT = 300  # seconds for each schedule of a kernel
_SLOW = 20  # seconds after which a kernel is reported
_INCIDENTAL = re.compile(
    r"//.*|^\s*\.(?:loc|file)\b.*|^\$L__(?:tmp|func_begin|func_end)\d+:|^\s*\.section\s+\.debug_\w+\s*\{[^}]*\}"
    r"|(?<=_)[0-9a-f]{8}(?=_\d+_\w+_cu_)",  # hash of nvcc in a name
    re.MULTILINE,
)
"""Parts of PTX that depend on the place of the source: comments, debug information, hashes."""


def filled(spec: dict[str, Any], random: np.random.Generator) -> Array:
    """Return the initial array of an argument with the description `spec`.

    `random` generates the values.
    """
    dtype, shape, fill = np.dtype(DTYPES[spec["dtype"]]), tuple(spec["shape"]), spec["fill"]
    if fill in ("zeros", "derived"):
        return np.zeros(shape, dtype)
    if fill == "values":
        return np.array(spec["values"], dtype).reshape(shape)
    if fill == "permutation":
        return random.permutation(spec["high"])[: int(np.prod(shape))].reshape(shape).astype(dtype)
    if fill == "range":
        return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    if fill == "integers":
        return random.integers(spec["low"], spec["high"], shape).astype(dtype)
    if fill == "uniform":
        return random.uniform(spec["low"], spec["high"], shape).astype(np.float32).astype(dtype)
    if fill == "bits" or dtype.kind in "iu":
        array = random.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8).view(dtype)[..., 0]
        return np.where(array == 0, 1, array).astype(dtype) if spec.get("nonzero") else array
    return (random.standard_normal(shape) * spec.get("scale", 1.0)).astype(np.float32).astype(dtype)


def arguments(case: dict[str, Any]) -> tuple[dict[str, Array], list[object]]:
    """Return the arrays and scalars of a launch by name, and its arguments in the kernel's order.

    `case` is the description of the launch.
    """
    random = np.random.default_rng(zlib.crc32(case["name"].encode()))
    values: dict[str, Any] = {}
    args: list[object] = []
    for name, spec in case["args"].items():
        if spec["kind"] == "null":
            args.append(None)
        elif spec["kind"] == "scratch":
            ctas = int(np.prod(case["grid"]))
            args.append(np.zeros(max(case["scratch"], 1) * ctas, np.uint8) if case["scratch"] else None)
        elif spec["kind"] == "scalar":
            values[name] = np.array(spec["value"], DTYPES[spec["dtype"]])[()]
            args.append(values[name])
        else:
            values[name] = filled(spec, random)
            if spec["kind"] == "tensor":
                args.extend(_tensor(spec, values[name]))
            elif spec["kind"] == "table":
                args.append(_parts(spec, values[name]))
            else:
                args.append(values[name])
    if any(spec.get("fill") == "derived" for spec in case["args"].values()):
        derive(values, case["parameters"])
    return values, args


def _parts(spec: dict[str, Any], array: Array) -> list[Array]:
    """Return the arrays of a table of addresses, as views of the array that contains all of them."""
    ends = np.cumsum([int(np.prod(shape)) for shape in spec["shapes"]])
    return [part.reshape(shape) for part, shape in zip(np.split(array, ends[:-1]), spec["shapes"], strict=True)]


def _tensor(spec: dict[str, Any], array: Array) -> list[object]:
    """Return the arguments for an array that is passed as a tensor map."""
    part = spec.get("part", spec["box"])
    if spec.get("padded"):
        tensor = wl.TensorMap.tiled(array, [*part[:-1], 128], swizzle=128, dtype="b4x16_p64")
    else:
        inner = part[-1] * array.itemsize
        swizzle = spec.get("swizzle", next((s for s in (128, 64, 32) if inner >= s), 0))
        box = [*part[:-1], min(part[-1], (swizzle or inner) // array.itemsize)]
        tensor = wl.TensorMap.tiled(array, box, swizzle=swizzle)
    if spec.get("bare"):
        return [tensor]
    # Triton passes the extents and strides after the map.
    strides = [stride // array.itemsize for stride in array.strides]
    return [tensor, *(np.int32(n) for n in array.shape), *(np.int64(n) for n in strides)]


def difference(case: dict[str, Any], name: str, found: Array, expected: Any) -> str:
    """Return a message about the wrong elements of the array `found`, or "".

    `case` is the description of the launch. Its tolerance is the allowed error.
    """
    relative, absolute = case["tolerance"]
    expected = np.asarray(expected)
    if found.dtype.kind in "iu":
        width = 8 * found.itemsize
        wrapped = np.array([int(v) % (1 << width) for v in expected.ravel()], object).reshape(expected.shape)
        wrong = wrapped.reshape(found.shape) != found.view(f"u{found.itemsize}").astype(object)
        worst = ""
    else:
        if expected.dtype.kind == "O":
            expected = expected.astype(np.float64)
        have, want = found.astype(np.float64), expected.astype(np.float64).reshape(found.shape)
        if relative == 0 and absolute == 0:
            want = want.astype(np.float32).astype(found.dtype).astype(np.float64) if found.itemsize < 8 else want
        with np.errstate(invalid="ignore"):
            error = np.abs(have - want)
            right = (have == want) | (np.isnan(have) & np.isnan(want)) | (error <= absolute + relative * np.abs(want))
        wrong = ~right
        worst = f", worst error {np.nanmax(np.where(wrong, error, 0)):.3g}" if wrong.any() else ""
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{name}: {int(wrong.sum())} of {wrong.size} wrong{worst}; first at {at}: {found[at]}, expected {expected.reshape(found.shape)[at]}"


def placement(case: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of the kernel and the extents of its launch, as options of `launch`."""
    return {"name": case["entry"]} | {word: case[word] for word in ("grid", "block", "cluster", "shared")}


def wrong_results(case: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return a message about the wrong elements of all arrays, or "".

    `before` and `after` are the values of the arguments before and after the launch that `case` describes.
    """
    with np.errstate(all="ignore"):
        expected = REFERENCES[case["reference"]](before, case["parameters"])
    checked = [name for name, spec in case["args"].items() if spec.get("checked") and name in expected]
    return "; ".join(filter(None, (difference(case, name, after[name], expected[name]) for name in checked)))


def digest(ptx: str) -> str:
    """Return a digest of the code of a PTX text, which does not depend on the place of its source."""
    return hashlib.sha256("\n".join(_INCIDENTAL.sub("", ptx).split()).encode()).hexdigest()[:16]


def run(folder: Path, case: dict[str, Any], schedules: tuple[str, ...], sanitize: bool) -> str:
    """Launch a compiled kernel under every schedule. Return a message about the first failure, or "".

    `case` is the description of the launch, and `folder` has the kernel. With `sanitize`, an unexpected sanitizer
    finding is a failure.
    """
    first: dict[str, Array] = {}
    for schedule in schedules:
        values, args = arguments(case)
        before = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items()}
        done = wl.launch(folder / case["file"], **placement(case), args=args, schedule=schedule, sanitize=sanitize)
        expected_codes = {"sanitize.wgmma/registers"} if sanitize and case["parameters"].get("unwaited") else set()
        if {finding.code for finding in done.findings} != expected_codes:
            found = "; ".join(f"{finding.code} {finding}" for finding in done.findings[:3])
            return f"under {schedule}: {found or 'no finding, expected one'}"
        if not first:
            first = {name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)}
            if problem := wrong_results(case, before, first):
                return problem
        else:
            loose = set(case["parameters"].get("unordered", ()))
            for name, value in first.items():
                if name not in loose and value.tobytes() != values[name].tobytes():
                    return f"{name} differs between the schedules {schedule} and {schedules[0]}"
    return ""


def run_all(
    folder: Path, words: Sequence[str], *, sanitize: bool, workers: int, record: Path | None = None,
    progress: Callable[[int, int], object] = lambda _done, _of: None,
) -> int:  # fmt: skip
    """Run the kernels whose names contain one of the words, or all kernels without words, under every schedule.

    `folder` has the compiled kernels and the descriptions of their launches. Each of `workers` processes runs one
    kernel at a time. `record` is a file for the results. `progress` receives the number of finished kernels and of all
    kernels. Return 1 if a kernel failed, otherwise 0.
    """
    cases: list[dict[str, Any]] = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    cases = [case for case in cases if not words or any(word in case["name"] for word in words)]
    timeout = TIMEOUT * len(SCHEDULES)
    pool = IsolatedProcesses(
        partial(_timed, folder, SCHEDULES, sanitize), workers=workers, timeout=timeout,
        is_reusable=lambda _: True, on_loss=lambda _: ("the process ended, or the kernel did not end in time", timeout),
    )  # fmt: skip
    kinds: dict[str, list[int]] = {}
    kernels: dict[str, dict[str, Any]] = {}
    for at, (problem, seconds) in pool.results(cases):
        case = cases[at]
        counts = kinds.setdefault(case["kind"], [0, 0])
        counts[0] += 1
        counts[1] += bool(problem)
        ptx = digest((folder / case["file"]).read_text(encoding="utf-8"))
        kernels[case["name"]] = {"kind": case["kind"], "ptx": ptx, "seconds": round(seconds, 1), "problem": problem}
        progress(len(kernels), len(cases))
        if problem or seconds > _SLOW:
            result = "FAIL" if problem else "slow"
            print(f"{result} {case['name']} ({seconds:.1f} s): {problem[:1200]}", flush=True)
    for kind, (count, failed) in kinds.items():
        print(f"{kind}: {count} kernels, {failed} failed")
    if record is not None:
        results = {"sanitized": sanitize, "schedules": SCHEDULES, "kernels": dict(sorted(kernels.items()))}
        record.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(any(failed for _, failed in kinds.values()))


def _timed(folder: Path, schedules: tuple[str, ...], sanitize: bool, case: dict[str, Any]) -> tuple[str, float]:
    """Return the message about a failure of a kernel and the seconds of the run."""
    start = time.perf_counter()
    problem = _problem(folder, case, schedules, sanitize)
    return problem, time.perf_counter() - start


def _problem(folder: Path, case: dict[str, Any], schedules: tuple[str, ...], sanitize: bool) -> str:
    """Run the kernel of a launch description and return a message about the failure, or ""."""
    try:
        problem = run(folder, case, ("eager",) if case["parameters"].get("unwaited") else schedules, sanitize)
    except WarploomError as error:
        # Some kernels must be refused.
        expected = case["parameters"].get("refused", "")
        return "" if expected and expected in str(error) else f"{type(error).__name__}: {error}"
    except Exception as error:  # any other exception is a defect of the emulator
        return f"ESCAPED {type(error).__name__}: {error}"
    return problem or ("the kernel ran; expected a refusal" if case["kind"] == "refused" else "")
