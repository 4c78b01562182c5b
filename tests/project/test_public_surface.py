"""The public names, which win over subpackages of the same name."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import warploom


@pytest.mark.parametrize("name", warploom.__all__)
def test_a_public_name_is_there_and_is_no_module(name: str) -> None:
    assert name in dir(warploom)
    assert not isinstance(getattr(warploom, name), ModuleType)


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
