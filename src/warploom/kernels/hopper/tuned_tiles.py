"""Tiles that were found by timing on a GPU: a file in the user's cache folder, which `warploom tune` writes.

    {"format": 1, "gpus": {"NVIDIA H200": {"4096x2112x7168 a=bf16 ...": {"tile": {...}, "split": 78, ...}}}}

It is read as data and checked whole before anything of it is used.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from warploom.diagnostics import UsageError
from warploom.gpu.cache import cache_directory
from warploom.kernels.hopper.cost_model import Share, choose, microseconds, shares
from warploom.kernels.hopper.plan import Plan, Tile
from warploom.kernels.problem import Problem

_FORMAT = 1
_LARGEST = 16 << 20  # bytes of a file that is read
_HINT = "`warploom tune --forget` removes it"


@dataclass(frozen=True, slots=True)
class Tuned:
    """What was the quickest: a tile, how many of them are cut along K, and the time. Units: microseconds."""

    tile: Tile
    split: int
    microseconds: float


Record = dict[str, dict[str, Tuned]]
"""What is kept, by the GPU's name and the problem's key."""


def record_file() -> Path:
    """Where it is kept."""
    return cache_directory() / "tuned.json"


def key_of(problem: Problem, plan: Plan) -> str:
    """A problem in words: sizes, and all that its plan says but the tile."""
    batch = f"x{problem.batch}" if problem.batch != 1 else ""
    said = {
        field.name: getattr(holder, field.name)
        for holder in (plan, plan.epilogue)
        for field in fields(holder)
        if field.name not in ("tile", "epilogue")
    }
    words = [name if value is True else f"{name}={value}" for name, value in said.items() if value]
    return " ".join([f"{problem.m}x{problem.n}x{problem.k}{batch}", *words])


def tuned_tile(gpu: str, key: str) -> tuple[Tile, int] | None:
    """The tile for a problem on a GPU, and how many are cut; None where nothing was tuned.

    Errors: UsageError kernels.tuned where the file is there and cannot be used.
    """
    found = read().get(gpu, {}).get(key)
    return None if found is None else (found.tile, found.split)


def chosen(gpu: str, problem: Problem, plan: Plan) -> tuple[Plan, Share]:
    """The plan with its tile, and the share: those that were the quickest on this GPU, or else the model's.

    Errors: UsageError kernels.tuned.
    """
    kept = tuned_tile(gpu, key_of(problem, plan))
    if kept is None:
        return choose(problem, plan)
    tile, split = kept
    try:
        with_it = plan.with_tile(tile)
    except UsageError as error:
        raise _broken(f"a tile of it suits no kernel: {error}") from None
    ways = list(shares(problem, with_it))
    same = [share for share in ways if share.split == split]
    return with_it, min(same or ways, key=lambda share: microseconds(problem, with_it, share))


def read() -> Record:
    """Everything that is kept. Errors: UsageError kernels.tuned."""
    try:
        with record_file().open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _broken((error.strerror or str(error)).lower()) from None
    if len(data) > _LARGEST:
        raise _broken(f"it is longer than {_LARGEST >> 20} MiB")
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        raise _broken("it is no JSON") from None
    if not isinstance(told, dict) or cast("dict[str, Any]", told).get("format") != _FORMAT:
        raise _broken(f"it is not of format {_FORMAT}, which this release reads")
    gpus = cast("dict[str, Any]", told).get("gpus")
    return {
        gpu: {key: _entry(key, each) for key, each in _table(kept, gpu).items()}
        for gpu, kept in _table(gpus, "gpus").items()
    }


def keep(gpu: str, key: str, found: Tuned) -> None:
    """Add what was found, in place of what was there. Errors: UsageError kernels.tuned."""
    record = read()
    record.setdefault(gpu, {})[key] = found
    _write(record)


def forget(keys: set[str] | None = None) -> int:
    """Drop problems on every GPU, or with None the whole file, whatever is in it; says how many (of a file 1 at least).

    Errors: UsageError kernels.tuned.
    """
    if keys is None:
        return _forget_all()
    record = read()
    left = {gpu: {key: each for key, each in kept.items() if key not in keys} for gpu, kept in record.items()}
    dropped = sum(map(len, record.values())) - sum(map(len, left.values()))
    if dropped:
        _write({gpu: kept for gpu, kept in left.items() if kept})
    return dropped


def _forget_all() -> int:
    try:
        count = max(1, sum(map(len, read().values())))
    except UsageError:
        count = 1
    try:
        record_file().unlink()
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise _broken((error.strerror or str(error)).lower()) from None
    return count


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _broken(f"{name!r} in it is no table")
    return cast("dict[str, Any]", value)


def _entry(key: str, value: Any) -> Tuned:
    """One problem's, with exactly the fields that there are, each of its type."""
    table = _table(value, key)
    shape = _table(table.get("tile"), "tile")
    expected = {field.name: field.default for field in fields(Tile)}
    suits = shape.keys() == expected.keys() and all(type(shape[n]) is type(expected[n]) for n in expected)
    split, time = table.get("split"), table.get("microseconds")
    if not suits or type(split) is not int or split < 0 or type(time) is not float or not time > 0:
        raise _broken(f"what it keeps for '{key}' is no tile of this release")
    return Tuned(Tile(**shape), split, time)


def _write(record: Record) -> None:
    """Write the file, whole or not at all."""
    gpus = {gpu: {key: asdict(each) for key, each in kept.items()} for gpu, kept in record.items()}
    path, temporary = record_file(), ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".tuned-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "gpus": gpus}, file, indent=1)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            with suppress(OSError):
                Path(temporary).unlink()
        raise UsageError(
            f"{path} cannot be written: {(error.strerror or str(error)).lower()}", code="kernels.tuned"
        ) from None


def _broken(why: str) -> UsageError:
    return UsageError(
        f"{record_file()}, the tuned tiles, cannot be used: {why}", code="kernels.tuned", hint=_HINT
    )
