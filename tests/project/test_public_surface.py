"""Public names of the package, and its version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import warploom

ROOT = Path(__file__).resolve().parents[2]


def test_public_names_are_not_modules() -> None:
    assert set(warploom.__all__) <= set(dir(warploom))
    values = {name: getattr(warploom, name) for name in warploom.__all__}
    assert [name for name, value in values.items() if isinstance(value, ModuleType)] == []


def test_a_public_function_stays_when_its_subpackage_is_imported() -> None:
    program = "import warploom.runtime, warploom as wl; print(type(wl.launch).__name__)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "function\n"


def test_every_kind_of_error_is_public() -> None:
    program = (
        "import warploom as wl\n"
        "public = {name: getattr(wl, name) for name in wl.__all__}\n"
        "print(sorted(each.__name__ for each in wl.WarploomError.__subclasses__() if each.__name__ not in public))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'warploom' has no attribute 'lunch'"):
        warploom.lunch  # noqa: B018


def test_the_version_is_that_of_the_distribution() -> None:
    assert warploom.__version__ in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
