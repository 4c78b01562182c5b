"""Selection of launches, their files, and the output about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from warploom.integrations.cuda_driver.launch_log import short_name
from warploom.runtime.captures.capture_file import SUFFIX

if TYPE_CHECKING:
    from warploom.runtime.captures.capture_file import CapturedLaunch

_NUMBERED = re.compile(r"([0-9]{4,9})-")


@dataclass(frozen=True)
class CaptureOptions:
    """Selection of launches.

    A launch is selected if the demangled name of its kernel contains a match of `kernel`, and if it is the launch with
    number `nth` of this kernel, from 1. None selects all. Units: `limit` of the reached memory in bytes.
    """

    folder: Path
    kernel: re.Pattern[str] | None = None
    nth: int | None = None
    limit: int = 2 << 30


@dataclass
class CaptureLog:
    """Record of the launches of all programs.

    The numbers in the names of the files continue those of earlier runs in the same folder.

    `say` prints a sentence. `skipped` counts selected launches that could not be recorded, by reason.
    """

    options: CaptureOptions
    say: Callable[[str], None]
    files: list[Path] = field(default_factory=list[Path])
    skipped: Counter[str] = field(default_factory=Counter[str])
    _launches: Counter[str] = field(default_factory=Counter[str])
    _said: set[str] = field(default_factory=set[str])
    _lock: Any = field(default_factory=Lock)

    def __post_init__(self) -> None:
        names = (each.name for each in self.options.folder.glob(f"*{SUFFIX}"))
        numbers = [int(found[1]) for name in names if (found := _NUMBERED.match(name))]
        self._first = 1 + max(numbers, default=0)

    def selects(self, name: str) -> bool:
        """Count a launch of a kernel with a demangled name, and return True if it is to be recorded."""
        options = self.options
        if options.kernel is not None and options.kernel.search(name) is None:
            return False
        with self._lock:
            self._launches[name] += 1
            return options.nth in (None, self._launches[name])

    def skip(self, reason: str, kernel: str = "") -> None:
        """Count a launch that cannot be recorded.

        Print the reason once, with the first kernel that has this reason.
        """
        with self._lock:
            self.skipped[reason] += 1
            is_new = self.skipped[reason] == 1
        if is_new:
            self.say(f"launches of {kernel} are not captured: {reason}" if kernel else reason)

    def say_once(self, sentence: str) -> None:
        """Print a sentence once."""
        with self._lock:
            if sentence in self._said:
                return
            self._said.add(sentence)
        self.say(sentence)

    def add(self, launch: CapturedLaunch, name: str) -> None:
        """Write a launch of a kernel with a demangled name to a file. Errors: UsageError capture.file."""
        with self._lock:
            number = self._first + len(self.files)
            path = self.options.folder / f"{number:04}-{short_name(name)}{SUFFIX}"
            self.files.append(path)
        launch.save(path)
