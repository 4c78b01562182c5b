"""Code lenses of kernels, and requests about layouts."""

from __future__ import annotations

from pathlib import Path

from lsp_client import URI, Client, at

from warploom.lsp.document import Document
from warploom.lsp.lenses import Lens, lenses_of_launch_file, lenses_of_ptx, lenses_of_python

FILE = Path("/kernels/k.py")
PTX = """\
.version 9.0
.target sm_90a
.address_size 64
.func helper() { ret; }
.visible .entry first() { ret; }
.entry second() {
  .reg .b32 %r<9>;
  .reg .pred %p;
  @%p mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r0, %r1};
  ret;
}
"""


def test_python_kernels_are_found_by_the_full_names_of_their_decorators() -> None:
    text = """\
import triton
import warploom as wl
from triton import jit as compiled
from warploom.author import kernel
from elsewhere import kernel as other

@triton.autotune(configs=[], key=[])
@triton.jit
def a(x): ...

@compiled(debug=True)
def b(x): ...

@wl.kernel(target="sm_80")
def c(): ...

@kernel
def d(): ...

@other
def e(): ...

@staticmethod
def f(): ...

def jit(): ...
"""
    expected = [(7, "a"), (10, "b"), (13, "c"), (16, "d")]
    assert lenses_of_python(text, FILE) == [Lens(line, FILE, name) for line, name in expected]


def test_a_program_with_syntax_errors_has_no_lenses() -> None:
    assert lenses_of_python("import triton\n@triton.jit\ndef a(:", FILE) == []
    assert lenses_of_python("\0", FILE) == []


def test_launch_files_are_told_from_other_toml_files() -> None:
    file = Path("/kernels/k.toml")
    assert lenses_of_launch_file('# A\n[kernel]\nfile = "k.ptx"\nname = "g"\n', file) == [Lens(1, file, "g")]
    assert lenses_of_launch_file('\n\nkernel.file = "k.ptx"\n', file) == [Lens(2, file, "")]
    for other in ('[project]\nname = "k"', "[kernel]\nversion = 1", "kernel = 3", "[kernel", "a = 1"):
        assert lenses_of_launch_file(other, file) == []


def test_a_ptx_kernel_has_the_launch_files_that_name_it(tmp_path: Path) -> None:
    (tmp_path / "ptx").mkdir()
    file = tmp_path / "ptx" / "k.ptx"
    launches = {
        "any.toml": 'kernel.file = "ptx/k.ptx"',
        "second.toml": '[kernel]\nfile = "ptx/k.ptx"\nname = "second"',
        "other.toml": 'kernel.file = "ptx/other.ptx"',
        "ptx/beside.toml": 'kernel.file = "k.ptx"\nkernel.name = "first"',
        "broken.toml": "kernel.file =",
    }
    for name, text in launches.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "latin.toml").write_bytes(b'kernel.file = "\xff"')
    first, second = lenses_of_ptx(Document("k.ptx", PTX).view, file)
    assert (first.line, first.kernel) == (4, "first")
    assert first.launch_files == (tmp_path / "ptx/beside.toml", tmp_path / "any.toml")
    assert (second.line, second.kernel) == (5, "second")
    assert second.launch_files == (tmp_path / "any.toml", tmp_path / "second.toml")


def test_a_session_with_lenses_and_layouts(tmp_path: Path) -> None:
    with Client() as client:
        assert client.open(PTX) == []
        found = client.ask("textDocument/codeLens", {"textDocument": {"uri": URI}})
        assert [(each["command"]["title"], each["range"]["start"]["line"]) for each in found] == [
            ("Run on the emulator", 4), ("Sanitize", 4), ("Run on the emulator", 5), ("Sanitize", 5),
        ]  # fmt: skip
        assert found[1]["command"]["command"] == "warploom.sanitize"
        assert found[2]["command"]["arguments"] == [{"file": "/kernels/k.ptx", "kernel": "second", "launchFiles": []}]

        inside = at(PTX, PTX.index("aligned"))
        text = client.ask("warploom/instruction", inside)
        assert text.startswith("mma.sync.aligned.m16n8k16")
        assert text.endswith("{%r0, %r1}")
        picture = client.ask("warploom/layoutPicture", inside)
        assert "rows 0 to 7, columns 0 to 7" in picture
        assert picture.count('data-row="') == 64
        outside = at(PTX, PTX.index(".reg"))
        assert client.ask("warploom/instruction", outside) is None
        assert client.ask("warploom/layoutPicture", at(PTX, PTX.index("ret;\n}"))) is None

        # A Python program has lenses and no diagnostics.
        uri = (tmp_path / "a b.py").as_uri()
        program = {"uri": uri, "languageId": "python", "version": 1, "text": "import triton\n@triton.jit\ndef k(): ..."}
        client.tell("textDocument/didOpen", {"textDocument": program})
        run, _ = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        assert run["command"]["arguments"][0]["file"] == str(tmp_path / "a b.py")
        client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert client.leave() == 0
        assert {each["params"]["uri"] for each in client.seen if "diagnostics" in each.get("params", {})} <= {URI}
