"""Modules around probes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from warploom.ptx import Block, Instruction, Variable, parse
from warploom_lab.ptxas.probe import REGISTERS, Probe, write_module


def _variables(body: Block) -> list[Variable]:
    return [statement for statement in body.statements if isinstance(statement, Variable)]


def test_a_probe_declares_the_names_that_it_uses() -> None:
    text = Probe("wide %rd3, {%f[0:4]}, [smem+4], %p0, L0, kparam;").module("sm_90a", (8, 0))
    module = parse(text)
    assert (module.version, module.target) == ((8, 0), ("sm_90a",))
    entry = module.functions["e0"]
    assert entry.body is not None
    declared = {(item.space, item.type, item.name, item.count) for item in _variables(entry.body)}
    assert declared == {
        ("reg", "b64", "%rd", 4),
        ("reg", "f32", "%f", 4),
        ("reg", "pred", "%p", 1),
        ("shared", "b8", "smem", None),
    }
    assert [parameter.name for parameter in entry.params] == ["kparam"]
    assert "L0:" in text


def test_directives_and_prelude_are_placed() -> None:
    probe = Probe("ret;", directives=".maxntid 128", prelude=".global .b32 g;")
    module = parse(probe.module("sm_90a", (8, 0)))
    assert "g" in module.variables
    assert [directive.name for directive in module.functions["e0"].directives] == [".maxntid"]


def test_every_line_belongs_to_its_probe() -> None:
    probes = [Probe("one %r0;"), Probe("two %r0;\nthree %r1;"), Probe("bra L0;")]
    text, owners = write_module(probes, "sm_90a", (8, 0))
    lines = text.splitlines()
    assert len(lines) == len(owners)
    for line, owner in zip(lines, owners, strict=True):
        for k, probe in enumerate(probes):
            if line in probe.statements.splitlines():
                assert owner == k


_TEXT = (
    st.text("abc%r0123,[]{}|;. ", min_size=1, max_size=30).map(str.strip).filter(lambda text: " | " not in f" {text} ")
)


@given(
    _TEXT,
    st.sampled_from(["", ".maxntid 32", ".reqnctapercluster 2 .maxclusterrank 8"]),
    st.sampled_from(["", ".global .b32 g;"]),
)
def test_a_probe_is_restored_from_its_key(text: str, directives: str, prelude: str) -> None:
    probe = Probe(text, directives, prelude)
    assert Probe.of_key(probe.key) == probe


def test_every_register_prefix_is_declared() -> None:
    statements = " ".join(f"use %{prefix}7;" for prefix in REGISTERS)
    body = parse(Probe(statements).module("sm_90a", (8, 3))).functions["e0"].body
    assert body is not None
    assert {variable.name: variable.type for variable in _variables(body)} == {
        f"%{prefix}": type_ for prefix, type_ in REGISTERS.items()
    }
    assert sum(isinstance(statement, Instruction) for statement in body.statements) == len(REGISTERS) + 1
