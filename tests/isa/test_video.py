"""Video instructions against outputs of an H100."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
from isa.binding import binding

from warploom.isa.binding.marks import separate_marks
from warploom.isa.model.types import TYPES
from warploom.ptx import Name

VECTORS = Path(__file__).parent.parent / "vectors" / "h100_video.npz"


def _follows_the_manual(text: str) -> bool:
    """True if ptxas replaces the instruction by instructions with the result that the manual states."""
    words = text.split(maxsplit=1)[0].split(".")
    if words[0][-1] in "24":
        return True
    if words[0] == "vmad":
        return not {"sat", "shr7", "shr15"} & set(words)
    return not {"sat", "min", "max"} & set(words) and "%r9.h1" not in text


def _evaluate(text: str, sources: dict[str, np.ndarray]) -> np.ndarray:
    bound = separate_marks(binding(text))
    values: dict[str, object] = dict.fromkeys(bound.form.operands) | dict(bound.slots)
    for name, operand in bound.operands.items():
        assert isinstance(operand.operand, Name)
        values[name] = sources[operand.operand.text].view(TYPES[operand.type].dtype)
    function = bound.form.lane_function
    assert function is not None
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    found = SimpleNamespace(**values)
    return function(*(getattr(found, name) for name in names)).view(np.uint32)


def test_results_are_those_of_the_hardware() -> None:
    vectors = np.load(VECTORS)
    inputs = [each.copy() for each in vectors["inputs"]]
    sources = dict(zip(("%r1", "%r2", "%r3", "%r9"), [*inputs, np.zeros_like(inputs[0])], strict=True))
    checked = 0
    for text, expected in zip(vectors["instructions"].tolist(), vectors["results"], strict=True):
        if not _follows_the_manual(text):
            continue
        checked += 1
        np.testing.assert_array_equal(_evaluate(text, sources), expected, text)
    assert checked > 800
