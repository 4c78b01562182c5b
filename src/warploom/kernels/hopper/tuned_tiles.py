"""Tuned tiles: a file in the user's cache folder, which `warploom tune` writes.

    {"format": 1, "gpus": {"NVIDIA H200": {"4096x2112x7168 a=bf16 ...": {"tile": {...}, "split": 78, ...}}}}

An error anywhere in the file makes all entries unusable.
"""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, cast

from warploom.caches import cache_directory
from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import os_reason
from warploom.files import replacement
from warploom.kernels.hopper.cost_model import TileSchedule, choose, microseconds, schedules
from warploom.kernels.hopper.plan import Plan, Tile
from warploom.kernels.problem import Problem

_FORMAT = 1
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Tuned:
    """Fastest tile of a problem, and its time. `split` is the number of tiles that are cut along K."""

    tile: Tile
    split: int
    microseconds: float


Record = dict[str, dict[str, Tuned]]
"""Contents of the file: tuned tiles by GPU name and problem key."""


def record_file() -> Path:
    """Return the path of the file of tuned tiles."""
    return cache_directory() / "tuned.json"


def key_of(problem: Problem, plan: Plan) -> str:
    """Return the key of a problem in the file: its sizes, and the fields of its plan except the tile."""
    batch = f"x{problem.batch}" if problem.batch != 1 else ""
    values = {
        field.name: getattr(holder, field.name)
        for holder in (plan, plan.epilogue)
        for field in fields(holder)
        if field.name not in ("tile", "epilogue")
    }
    words = [name if value is True else f"{name}={value}" for name, value in values.items() if value]
    return " ".join([f"{problem.m}x{problem.n}x{problem.k}{batch}", *words])


def choose_tuned(gpu: str, problem: Problem, plan: Plan) -> tuple[Plan, TileSchedule]:
    """Return the plan and the schedule with the tuned tile for `gpu`, or with the best estimated tile.

    Errors: UsageError kernels.tuned.
    """
    tuned = read().get(gpu, {}).get(key_of(problem, plan))
    if tuned is None:
        return choose(problem, plan)
    try:
        tiled = plan.with_tile(tuned.tile)
    except UsageError as error:
        raise _invalid(f"a tile in the file is illegal: {error}") from None
    options = list(schedules(problem, tiled))
    same = [each for each in options if each.split == tuned.split]
    return tiled, min(same or options, key=lambda each: microseconds(problem, tiled, each))


def read() -> Record:
    """Return all tuned tiles, or {} if there is no file. Errors: UsageError kernels.tuned."""
    try:
        with record_file().open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _invalid(os_reason(error)) from None
    if len(data) > _MAX_BYTES:
        raise _invalid(f"the file is longer than {_MAX_BYTES >> 20} MiB")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise _invalid("the file is not JSON") from None
    if not isinstance(content, dict) or cast("dict[str, Any]", content).get("format") != _FORMAT:
        raise _invalid(f"expected format {_FORMAT}")
    gpus = cast("dict[str, Any]", content).get("gpus")
    return {
        gpu: {key: _entry(key, each) for key, each in _table(tuned, gpu).items()}
        for gpu, tuned in _table(gpus, "gpus").items()
    }


def keep(gpu: str, key: str, found: Tuned) -> None:
    """Add a tuned tile to the file, or replace it. Errors: UsageError kernels.tuned."""
    record = read()
    record.setdefault(gpu, {})[key] = found
    _write(record)


def forget(keys: set[str] | None = None) -> int:
    """Remove the tuned tiles with these keys for all GPUs. If `keys` is None, remove the file.

    Return the number of removed tiles. An unreadable file counts as one. Errors: UsageError kernels.tuned.
    """
    if keys is None:
        count = 1
        with suppress(UsageError):
            count = max(1, sum(map(len, read().values())))
        try:
            record_file().unlink()
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            raise _invalid(os_reason(error)) from None
        return count
    record = read()
    left = {gpu: {k: each for k, each in tuned.items() if k not in keys} for gpu, tuned in record.items()}
    dropped = sum(map(len, record.values())) - sum(map(len, left.values()))
    if dropped:
        _write({gpu: tuned for gpu, tuned in left.items() if tuned})
    return dropped


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _invalid(f"{name!r} in the file is not a table")
    return cast("dict[str, Any]", value)


def _entry(key: str, value: Any) -> Tuned:
    """Return an entry of the file, after a check of its fields."""
    table = _table(value, key)
    tile = _table(table.get("tile"), "tile")
    types: dict[str, Any] = {field.name: type(field.default) for field in fields(Tile)}
    fits = tile.keys() == types.keys() and all(type(tile[name]) is kind for name, kind in types.items())
    split, time = table.get("split"), table.get("microseconds")
    if not fits or type(split) is not int or split < 0 or type(time) is not float or not time > 0:
        raise _invalid(f"the entry '{key}' is not a tile of this release")
    return Tuned(Tile(**tile), split, time)


def _write(record: Record) -> None:
    """Replace the file atomically."""
    gpus = {gpu: {key: asdict(each) for key, each in tuned.items()} for gpu, tuned in record.items()}
    path = record_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacement(path) as file:
            json.dump({"format": _FORMAT, "gpus": gpus}, file, indent=1)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {os_reason(error)}", code="kernels.tuned") from None


def _invalid(why: str) -> UsageError:
    hint = "`warploom tune --forget` removes it"
    return UsageError(f"cannot use the tuned tiles in {record_file()}: {why}", code="kernels.tuned", hint=hint)
