"""Assemblers: what their logs say, the cache of what they made, and an installed ptxas."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest
from gpu.nvidia import Fake

import warploom as wl
from warploom.diagnostics import Severity, Source
from warploom.gpu import Gpu, Resources, assemble, logs
from warploom.gpu.rules import pages, rule_of_remark, rules

KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 data)
{
    ret;
}
"""
SOURCE = Source("scale.ptx", KERNEL)

VERBOSE = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'scale' for 'sm_90a'
ptxas info    : Function properties for scale
    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 1024 bytes smem, 536 bytes cmem[0]
ptxas info    : Compile time = 12.000 ms
"""


@pytest.fixture
def ptxas(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ptxas on PATH: it writes down that it was asked, and says what the file `says` holds."""
    path = tmp_path / "ptxas"
    path.write_text(f"""#!{sys.executable}
import sys, pathlib
here = pathlib.Path({str(tmp_path)!r})
if sys.argv[1:] == ["--version"]:
    print("ptxas: NVIDIA (R) Ptx optimizing assembler\\nCuda compilation tools, release 13.1, V13.1.115")
    sys.exit()
with open(here / "asked", "a") as asked:
    print(*sys.argv[1:-3], file=asked)
text = sys.stdin.read()
sys.stderr.write((here / "says").read_text())
if "error" in (here / "says").read_text():
    sys.exit(255)
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(b"code of " + text.encode())
""")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "says").write_text(VERBOSE)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_a_verbose_log_says_what_a_kernel_takes() -> None:
    assert logs.resources(VERBOSE) == {"scale": Resources(168, 8, 12, 16, 1024, 3)}


def test_spills_are_found_at_the_kernel() -> None:
    (found,) = logs.spills("scale", Resources(168, 8, 12, 16), SOURCE)
    assert found.code == "gpu.spills"
    assert found.message == ("kernel scale uses 168 registers and spills: each thread stores 12 bytes and loads 16")
    assert found.place == "scale.ptx:4:17"
    assert logs.spills("scale", Resources(168, 8), SOURCE) == ()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("C7504", "'setmaxnreg' ignored to maintain compatibility across compilation units."),
        ("C7506", "'setmaxnreg' ignored to maintain compatibility into 'extern' call."),
        ("C7507", "'setmaxnreg' ignored to maintain minimum register requirements."),
        ("C7508", "'setmaxnreg' ignored; unable to determine register count at entry."),
        (
            "C7509",
            "wgmma.mma_async instructions are serialized due to the presence of Extern calls in the function 'scale'",
        ),
        ("C7510", "instructions are serialized due to a function boundary in the function 'scale'"),
        ("C7511", "instructions are serialized due to insufficient register resources in the function 'scale'"),
        ("C7512", "instructions are serialized due to insufficient register resources for the function 'scale'"),
        ("C7514", "instructions are serialized due to reading accumulator registers in the function 'scale'"),
        ("C7515", "instructions are serialized due to defining accumulator registers in the function 'scale'"),
        ("C7516", "instructions are serialized due to ill formed pipeline stage in the function 'scale'"),
        ("C7518", "instructions are serialized due to program dependence in divergent path in the function 'scale'"),
    ],
)
def test_a_remark_is_explained(number: str, words: str) -> None:
    (found,) = logs.findings(f"ptxas info    : ({number}) Potential Performance Loss: {words}", SOURCE)
    rule = rule_of_remark(number)
    assert rule is not None
    assert rule.says
    assert (found.code, found.severity) == (f"gpu.{number.lower()}", Severity.WARNING)
    assert (found.message, found.hint) == (f"{number}: {words}", rule.cure)
    assert found.place == ("scale.ptx:4:17" if words.endswith("'scale'") else "scale.ptx")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("C7517", "warpgroup.wait is injected in around line 6 by compiler to allow use of registers defined by GMMA"),
        ("C7519", "warpgroup.arrive is injected in around line 6 by compiler to allow use of registers in GMMA"),
    ],
)
def test_what_the_assembler_puts_in_is_placed(number: str, words: str) -> None:
    (found,) = logs.findings(f"ptxas info    : ({number}) {words} in function 'scale'", SOURCE)
    assert (found.code, found.place) == (f"gpu.{number.lower()}", "scale.ptx:6:5")


def test_a_remark_that_nobody_knows_is_passed_on() -> None:
    (found,) = logs.findings("ptxas info    : (C7599) Something new.", SOURCE)
    assert (found.code, found.message, found.hint) == ("gpu.assembler", "C7599: Something new.", "")


def test_a_version_that_is_too_new_says_what_to_do() -> None:
    log = "ptxas scale.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'"
    (found,) = logs.findings(log, SOURCE)
    assert found.place == "scale.ptx:1:1"
    assert 'assembler="ptxas"' in found.hint


def test_every_rule_has_a_page() -> None:
    assert [code for code, _, _ in pages()] == list(rules())
    for code, what, page in pages():
        assert page.startswith(f"# {code}\n\n{what}\n")


def test_the_driver_assembles_the_text_and_its_log_is_read(fake: Fake) -> None:
    fake.remarks = VERBOSE
    kernel = Gpu().kernel(KERNEL, "scale")
    assert kernel.resources == Resources(168, 8, 12, 16, 1024, 3)
    assert [found.code for found in kernel.findings] == ["gpu.spills"]
    assert fake.calls.count("assemble") == 1


def test_what_the_driver_refuses_is_placed(fake: Fake) -> None:
    fake.log = "ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'ret'"
    with pytest.raises(wl.WarploomError) as error:
        Gpu().kernel(KERNEL, "scale")
    (found,) = error.value.diagnostics
    assert (found.place, found.message) == ("<ptx>:6:5", "Not a name of any known instruction: 'ret'")


def test_code_is_kept_for_the_next_time(fake: Fake, ptxas: Path) -> None:
    first = assemble.assemble(SOURCE, "sm_90a")
    assert assemble.assemble(SOURCE, "sm_90a") == first
    assert first.log == VERBOSE
    assert len(asked(ptxas)) == 1
    assemble.assemble(Source("x", KERNEL + "\n"), "sm_90a")
    assert len(asked(ptxas)) == 2


@pytest.mark.parametrize("damage", [lambda held: held[:-1], lambda held: b"", lambda held: held + b"x"])
def test_an_entry_that_is_not_whole_is_not_there(fake: Fake, ptxas: Path, damage: object) -> None:
    assert callable(damage)
    first = assemble.assemble(SOURCE, "sm_90a")
    (key,) = fake.entries
    fake.entries[key] = damage(fake.entries[key])
    assert assemble.assemble(SOURCE, "sm_90a") == first
    assert len(asked(ptxas)) == 2


def test_a_cache_that_cannot_be_written_is_none(fake: Fake, ptxas: Path) -> None:
    fake.is_writable = False
    for _ in range(2):
        assemble.assemble(SOURCE, "sm_90a")
    assert len(asked(ptxas)) == 2


def test_an_installed_ptxas_assembles(fake: Fake, ptxas: Path) -> None:
    kernel = Gpu().kernel(KERNEL, "scale", assembler="ptxas", options=("-O2",))
    assert kernel.resources == Resources(168, 8, 12, 16, 1024, 3)
    assert [found.code for found in kernel.findings] == ["gpu.spills"]
    assert asked(ptxas) == ["-v -arch=sm_90a -O2"]
    again = Gpu().kernel(KERNEL, "scale", assembler="ptxas", options=("-O2",))
    assert [found.message for found in again.findings] == [found.message for found in kernel.findings]
    Gpu().kernel(KERNEL, "scale", assembler="ptxas")
    assert asked(ptxas) == ["-v -arch=sm_90a -O2", "-v -arch=sm_90a"]


def test_what_an_installed_ptxas_refuses_is_placed(fake: Fake, ptxas: Path) -> None:
    (ptxas / "says").write_text("ptxas /dev/stdin, line 6; error   : Not a name of any known instruction: 'ret'\n")
    with pytest.raises(wl.WarploomError) as error:
        Gpu().kernel(KERNEL, "scale", assembler="ptxas")
    (found,) = error.value.diagnostics
    assert (found.place, found.message) == ("<ptx>:6:5", "Not a name of any known instruction: 'ret'")


def test_without_a_ptxas_it_says_so(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(wl.UsageError, match="there is no ptxas in this environment or on PATH"):
        Gpu().kernel(KERNEL, "scale", assembler="ptxas")


def test_what_is_no_assembler_is_refused(fake: Fake) -> None:
    with pytest.raises(wl.UsageError, match="assembler is 'gas'; expected 'driver' or 'ptxas'"):
        Gpu().kernel(KERNEL, "scale", assembler="gas")  # pyright: ignore[reportArgumentType]
    with pytest.raises(wl.UsageError, match="the driver's assembler takes no options; found -O1"):
        Gpu().kernel(KERNEL, "scale", options=("-O1",))
