"""The report: order, severities, text, JSON and SARIF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import warploom as wl
from warploom.check import Report

TEXT = """\
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
\tadd.s32 %r0, %r1, %r9;
    mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32 {}, {}, {}, {};
    ret;
}
"""


@pytest.fixture(name="report")
def fixture_report() -> Report:
    return wl.check(TEXT.replace("{}", "{%r0}"))


def test_a_report_has_everything_in_the_order_of_the_text(report: Report) -> None:
    assert [(found.code, found.place) for found in report] == [
        ("name/undeclared", "<ptx>:8:20"),
        ("mma.half/shape", "<ptx>:9:22"),
    ]
    assert not report.ok
    assert len(report) == len(report.errors) == 2
    assert report.warnings == ()


def test_a_report_is_no_truth_value(report: Report) -> None:
    with pytest.raises(TypeError, match=r"use \.ok"):
        bool(report)


def test_text_shows_the_place_and_what_would_be_right(report: Report) -> None:
    assert str(report) == (
        "<ptx>:8:20: error[name/undeclared]: '%r9' is not declared\n"
        "    8 |     add.s32 %r0, %r1, %r9;\n"
        "      |                       ^^^\n"
        "  hint: '%r<4>' ends with '%r3'\n"
        "  see: PTX ISA 4.4\n"
        "<ptx>:9:22: error[mma.half/shape]: 'mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32' has "
        "'.m16n8k99' for shape; expected '.m8n8k4', '.m16n8k8', '.m16n8k16'\n"
        "    9 |     mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32 {%r0}, {%r0}, {%r0}, {%r0};\n"
        "      |                      ^^^^^^^^\n"
        "  see: PTX ISA 9.7.14.5.14\n"
    )
    assert "\x1b[" in report.render("text", color=True)


def test_json(report: Report) -> None:
    first, second = json.loads(report.render("json"))
    assert first == {
        "code": "name/undeclared",
        "severity": "error",
        "message": "'%r9' is not declared",
        "file": "<ptx>",
        "start": {"line": 8, "column": 20},
        "end": {"line": 8, "column": 23},
        "hint": "'%r<4>' ends with '%r3'",
        "section": "PTX ISA 4.4",
    }
    assert second["code"] == "mma.half/shape"


def test_sarif_has_the_shape_of_its_schema(report: Report) -> None:
    log = json.loads(report.render("sarif"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "warploom"
    assert run["columnKind"] == "unicodeCodePoints"
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note", "none")
        assert result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["artifactLocation"]["uri"] == "%3Cptx%3E"
        region = physical["region"]
        assert region["startLine"] >= 1
        assert (region["startLine"], region["startColumn"]) < (region["endLine"], region["endColumn"])


def test_a_clean_text_is_an_empty_log() -> None:
    report = wl.check(TEXT.split("\tadd", maxsplit=1)[0] + "ret;\n}\n")
    assert report.ok
    assert json.loads(report.render("sarif"))["runs"][0]["results"] == []
    assert report.render("json") == "[]\n"
    assert str(report) == ""


def test_paths_modules_and_texts_are_one(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(TEXT.replace("{}", "{%r0}"))
    by_path, by_module = wl.check(path), wl.check(wl.parse(TEXT.replace("{}", "{%r0}")))
    assert [found.code for found in by_path] == [found.code for found in by_module]
    assert next(iter(by_path)).place == f"{path}:8:20"


def test_syntax_errors_are_diagnostics() -> None:
    assert [found.code for found in wl.check(".version 9.0\n.target sm_90a\n.entry k( { ret }")] != []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "sm_91"}, "unknown target 'sm_91'"),
        ({"ptx_version": "9.9"}, "unknown PTX version '9.9'; the latest known is 9.5"),
        ({"ptx_version": (5, 2)}, "unknown PTX version (5, 2); the latest known is 9.5"),
    ],
)
def test_misuse_is_one_sentence(options: dict[str, str], message: str) -> None:
    with pytest.raises(wl.UsageError) as caught:
        wl.check(TEXT, **options)
    assert str(caught.value) == message


def test_target_and_version_can_be_chosen() -> None:
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { barrier.cluster.arrive; ret; }\n"
    assert wl.check(text).ok
    assert [found.code for found in wl.check(text, target="sm_80")] == ["barrier.cluster_arrive/target"]
    assert [found.code for found in wl.check(text, ptx_version="7.7")] == [
        "module/version",
        "barrier.cluster_arrive/ptx",
    ]
    assert [found.code for found in wl.check(text, target="sm_90", ptx_version="7.7")] == ["barrier.cluster_arrive/ptx"]


def test_a_tolerated_rule_appears_once_per_file(tmp_path: Path) -> None:
    lines = ["add.f32.rn %f0, %f1, %f2;"] * 3 + ["add.rn.f32 %f0, %f1, %f2;", "fma.f32.rn %f0, %f1, %f2, %f0;"]
    body = "\n".join(lines)
    text = f".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {{ .reg .f32 %f<4>;\n{body}\nret; }}\n"
    found = wl.check(text)
    assert len(found.warnings) == 4  # one for each instruction, as an editor needs them
    assert str(found).count("tolerated/order") == 1
    assert "note: 4 instructions in this file, on lines 5 to 7, 9\n" in str(found)
    (record,) = json.loads(found.render("json"))
    assert (record["code"], record["data"]) == ("tolerated/order", {"count": 4, "lines": [5, 6, 7, 9]})
    (result,) = json.loads(found.render("sarif"))["runs"][0]["results"]
    assert result["properties"] == {"count": 4, "lines": [5, 6, 7, 9]}
    paths = [tmp_path / "a.ptx", tmp_path / "b.ptx"]
    for path in paths:
        path.write_text(text)
    assert str(Report.of(map(wl.check, paths))).count("tolerated/order") == 2
