"""What a module states about its target and its launch, and what `lower` must not lose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

import warploom as wl
from warploom.cli import main
from warploom.nvvm import notes
from warploom.ptx import PtxSyntaxError

KERNEL = "llvm.func @k() attributes {{nvvm.kernel{}}} {{ llvm.return }}"
ASM = 'define void @a() {\n  ret void\n}\ndefine void @k() {\n  call void asm sideeffect "%s", ""()\n  ret void\n}\n'
PTX = ".version {}\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"


def header(ptx: str) -> list[str]:
    return re.findall(r"^\.(?:version|target) (\S+)", ptx, re.MULTILINE)


@pytest.mark.parametrize(
    ("module", "stated"),
    [
        ('gpu.module @m [#nvvm.target<chip = "sm_80">] {{ {} }}', ["7.0", "sm_80"]),
        ('gpu.module @m [#nvvm.target<chip = "sm_80", features = "+ptx83">] {{ {} }}', ["8.3", "sm_80"]),
        ("gpu.module @m [#nvvm.target<O = 3>] {{ {} }}", ["8.0", "sm_90a"]),
        ('module attributes {{ptx.target = ["sm_89", "debug"], ptx.version = "8.7"}} {{ {} }}', ["8.7", "sm_89"]),
        ('module attributes {{ptx.version = "9.1"}} {{ {} }}', ["9.1", "sm_90a"]),
    ],
)
def test_a_module_states_the_default_target_and_version(module: str, stated: list[str]) -> None:
    text = module.format(KERNEL.format(""))
    assert header(wl.lower(text)) == stated
    assert header(wl.lower(text, target="sm_100a", ptx_version="8.8")) == ["8.8", "sm_100a"]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ('gpu.module @m [#nvvm.target<chip = "sm_42">] {}', "states the unknown target 'sm_42'"),
        ('gpu.module @m [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90">] {}', "states sm_80 and sm_90"),
        ('module attributes {ptx.version = "99.0"} {}', "states the unknown PTX version '99.0'"),
    ],
)
def test_an_unknown_statement_is_an_error(module: str, message: str) -> None:
    with pytest.raises(wl.LowerError, match=message) as found:
        wl.lower(module)
    assert found.value.diagnostics[0].span is not None


@pytest.mark.parametrize(("target", "version"), [("sm_80", "8.4"), ("sm_90", "8.7")])
def test_a_lifted_module_keeps_target_and_version(target: str, version: str) -> None:
    mlir = wl.lower(PTX.format(version, target), "ptx", "nvvm")
    assert header(wl.lower(mlir)) == [version, target]


@pytest.mark.parametrize("options", [{"target": "sm_90a"}, {"ptx_version": "8.0"}])
def test_lifting_refuses_a_target(options: dict[str, str]) -> None:
    with pytest.raises(wl.UsageError, match="have no effect on the translation of PTX"):
        wl.lower(PTX.format("8.0", "sm_80"), "ptx", "nvvm", **options)


def test_known_sizes_are_ranges() -> None:
    reads = "\n".join(f"%{name} = gpu.{name} x" for name in ("block_id", "grid_dim", "thread_id", "block_dim"))
    sizes = "known_grid_size = array<i32: 4, 1, 1>, known_block_size = array<i32: 64, 1, 1>"
    text = wl.lower(
        f"gpu.module @m {{ gpu.func @k() kernel attributes {{{sizes}}} {{ {reads}\n gpu.return }} }}", to="llvm"
    )
    found = dict(re.findall(r"call range\((.*?)\) i32 @llvm.nvvm.read.ptx.sreg.(\w+).x", text))
    assert found == {"i32 0, 4": "ctaid", "i32 1, 5": "nctaid", "i32 0, 64": "tid", "i32 1, 65": "ntid"}


def test_clusters_need_a_target_that_has_them() -> None:
    text = KERNEL.format(", nvvm.cluster_dim = array<i32: 2, 1, 1>")
    assert ".reqnctapercluster" in wl.lower(text, target="sm_90")
    with pytest.raises(wl.LowerError, match=r"for sm_80: 'nvvm.cluster_dim' needs sm_90 or later"):
        wl.lower(text, target="sm_80")


@pytest.mark.parametrize(
    ("initial", "bits"),
    [
        ("float x = -0.0f", "0f80000000"),
        ("float x[2] = {-0.0f, 0.0f}", "{0, 0, 0, 128}"),
        ("float x[2][1] = {{0.0f}, {-0.0f}}", "{0, 0, 0, 0, 0, 0, 0, 128}"),
        ("__half x = 1.5", ".u16 x = 15872"),
        ("__half x = -2.0", ".u16 x = -16384"),
    ],
)
def test_initial_values_keep_their_bits(initial: str, bits: str) -> None:
    text = f"__device__ {initial};\n__global__ void k() {{ }}\n"
    assert bits in wl.lower(text, "builtin")
    assert bits in wl.lower(wl.lower(text, "builtin", "nvvm"))


def test_a_large_array_of_zeros_is_one_word() -> None:
    ir = wl.lower("__device__ int g[50000000];\n__global__ void k(int *o) { o[0] = g[5]; }\n", "builtin", "llvm")
    assert len(ir) < 3000
    assert "zeroinitializer" in ir


@pytest.mark.parametrize("count", [13, 14])
def test_an_argument_after_b_has_a_note(count: int) -> None:
    more = ", d" * (count - 12)
    call = f"float a[4]; __wgmma_mma_async_f16(64,8,16,0,0,0,0,1,0,a,d,d{more});"
    _, *found = notes(f"__global__ void k(unsigned long long d) {{ {call} }}")
    assert len(found) == count - 12


def test_a_transposition_of_registers_has_a_note() -> None:
    call = "float a[4]; int r[4]; __wgmma_mma_async_f16(64,8,16,{},0,0,0,1,0,a,r,d);"
    texts = (f"__global__ void k(unsigned long long d) {{ {call.format(flag)} }}" for flag in (0, 1))
    assert [len(notes(text)) for text in texts] == [1, 2]


# Messages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        (ASM % "nop", "llvm", "k:5:3"),
        (ASM % "bogus;", "llvm", "k:5:3: unknown instruction 'bogus'"),
        (ASM % "add.u32 $0, $5;", "llvm", "k:5:3"),
        ('define void @k() { ret void }\nmodule asm ".func e() { bogus; }"\n', "llvm", "k:2:1: unknown instruction"),
        ('module asm ".include \\22x\\22"\ndefine void @k() { ret void }\n', "llvm", "k:1:1: .include is no directive"),
        (KERNEL.format(", nvvm.maxntid = array<i32: 0>"), "nvvm", "k:1:1: .maxntid has 0"),
        ("\ufeffdefine x\n", "llvm", "k:1:1: 'define x'"),
        ("{" * 100_000, "llvm", "{{{…{{{{{{{{{'"),
    ],
)
def test_an_error_has_its_place(text: str, source: str, message: str) -> None:
    with pytest.raises(wl.LowerError) as found:
        wl.lower(text, source, name="k")
    assert message in str(found.value)
    assert len(str(found.value)) < 1000


def test_a_long_name_is_legal() -> None:
    name = "x" * 5000
    sums = f"%{name} = llvm.add %a, %a : i32\n%{name}y = llvm.add %{name}, %a : i32"
    assert wl.lower(f"llvm.func @k(%a: i32) {{\n{sums}\nllvm.return }}")


def test_a_byte_order_mark_is_ignored() -> None:
    assert wl.lower(f"\ufeff{KERNEL.format('')}") == wl.lower(KERNEL.format(""))
    assert wl.lower("\ufeffdefine void @f() { ret void }", "llvm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((b"x", "llvm"), "text is b'x'; expected a string"),
        ((None,), "text is None; expected a string"),
        (("", "ll"), "source is ll; expected builtin, nvvm, llvm or ptx"),
        (("", "ptx"), "cannot lower ptx to ptx; expected nvvm"),
        (("", "nvvm", "ptx", "sm_90a", 8.8), "the PTX version is 8.8; expected a string such as '8.7'"),
        (("", "nvvm", "ptx", "sm_90a", "abc"), "the PTX version is 'abc'; expected a string such as '8.7'"),
    ],
)
def test_wrong_arguments_are_usage_errors(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(wl.UsageError) as found:
        wl.lower(*arguments)  # type: ignore[arg-type]
    assert message in str(found.value)


def test_a_target_in_capital_letters_has_a_hint() -> None:
    with pytest.raises(wl.UsageError) as found:
        wl.lower("", target="SM_100A")
    assert found.value.diagnostics[0].hint == "did you mean sm_100a?"


def test_llvm_ir_has_no_calls_of_ptx() -> None:
    with pytest.raises(wl.UsageError, match="only PTX"):
        wl.lower(KERNEL.format(""), to="llvm").calls()


# Command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "options", "status", "message"),
    [
        ("k.ptx", "garbage", ["--to", "nvvm"], 1, "expected .version"),
        ("k.ptx", PTX.format("8.0", "sm_80"), [], 2, "--to nvvm"),
        ("k", PTX.format("8.0", "sm_80"), [], 2, "--source ptx"),
        ("k", "define void @k() { ret void }", [], 2, "--source llvm"),
        ("k", "__global__ void k() { }", [], 2, "--source builtin"),
        ("k.mlir", KERNEL.format(""), ["--explain", "--to", "llvm"], 2, "--explain needs --to ptx"),
        ("K.LL", "define void @k() { ret void }", [], 0, ""),
    ],
)
def test_the_command_says_what_is_right(
    name: str, text: str, options: list[str], status: int, message: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / name).write_text(text)
    assert main(["lower", str(tmp_path / name), *options]) == status
    assert message in capsys.readouterr().err


def test_a_syntax_error_of_ptx_is_raised() -> None:
    with pytest.raises(PtxSyntaxError):
        wl.lower("garbage\n", "ptx", "nvvm")
