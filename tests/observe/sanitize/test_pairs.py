"""Pairs of kernels, one correct by the PTX manual and one with a single fault, that the sanitizer must tell apart.

A file in the folder `pairs` contains both kernels. A line that ends with "// correct" belongs to the correct kernel
only, a line that ends with "// faulty" to the faulty kernel only. The first two lines of the file state the launch and
the rule that the faulty kernel breaks, which is enabled if it is off by default. The comment below argues from the
manual.
"""

import re
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pytest

import warploom as wl
from warploom.observe.sanitize.rules import rules

FOLDER = Path(__file__).parent / "pairs"
SCHEDULES = ("eager", "lazy", "random:0", "random:1", "random:2")
HEADER = re.compile(
    r"// launch: grid (?P<grid>\d+), block (?P<block>\d+), cluster (?P<cluster>\d+), arguments (?P<arguments>.*)\n"
    r"// finds: (?P<rule>\S+)\n"
)
Version: TypeAlias = Literal["correct", "faulty"]


def argument(text: str) -> np.ndarray | wl.TensorMap:
    """Return a new argument: zeros for `out`, 0 to 255 for `x`, a tensor map for `map:SHAPE/BOX`."""
    name, _, extents = text.partition(":")
    if name != "map":
        return np.zeros(256, np.uint32) if name == "out" else np.arange(256, dtype=np.uint32)
    shape, box = ([int(extent) for extent in part.split("x")] for part in extents.split("/"))
    return wl.TensorMap.tiled(np.zeros(shape, np.float32), box)


def findings(text: str, version: Version) -> list[str]:
    """Return the rules of the findings of one version of a pair, with the lines of the other version left blank."""
    other = "// faulty" if version == "correct" else "// correct"
    kernel = "\n".join("" if line.endswith(other) else line for line in text.split("\n"))
    header = HEADER.match(text)
    assert header is not None
    run = wl.sanitize(
        kernel,
        grid=int(header["grid"]),
        block=int(header["block"]),
        cluster=int(header["cluster"]),
        args=[argument(word) for word in header["arguments"].split()],
        schedules=SCHEDULES,
        enable=[rule for rule in [header["rule"]] if rule in rules()],
    )
    return [finding.code for finding in run.findings]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ptx")), ids=lambda path: path.stem)
def test_correct_kernel_has_no_finding(path: Path) -> None:
    assert findings(path.read_text(), "correct") == []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ptx")), ids=lambda path: path.stem)
def test_faulty_kernel_has_one_finding(path: Path) -> None:
    text = path.read_text()
    header = HEADER.match(text)
    assert header is not None
    assert findings(text, "faulty") == [header["rule"]]
