"""Launches of kernels that use what the target or the PTX version of their module lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.cli import main
from warploom.integrations.triton.driver import _load
from warploom.runtime import availability

ALLOCATE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;"
FUNCTION = ".func helper() { wgmma.fence.sync.aligned; ret; }"


def module(body: str, target: str, version: str = "8.8", items: str = "", directives: str = "") -> str:
    return f""".version {version}
.target {target}
.address_size 64
{items}
.visible .entry k(.param .u64 out) {directives}
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .shared .align 16 .b8 slot[16];
    {body}
    ret;
}}
.visible .entry other(.param .u64 out) {{ barrier.cluster.arrive; barrier.cluster.wait; ret; }}
"""


def launch(text: str, name: str = "k", **options: Any) -> wl.Run:
    return wl.launch(text, name, grid=1, block=128, args=[np.zeros(4, np.int32)], **options)


@pytest.mark.parametrize(
    ("body", "target", "code", "message"),
    [
        (ALLOCATE, "sm_90a", "tcgen05.alloc/target", "needs sm_100f or sm_110f; the target is sm_90a"),
        (ALLOCATE, "sm_80", "tcgen05.alloc/target", "needs sm_100f or sm_110f; the target is sm_80"),
        (ALLOCATE, "sm_120a", "tcgen05.alloc/target", "needs sm_100f or sm_110f; the target is sm_120a"),
        ("wgmma.fence.sync.aligned;", "sm_80", "wgmma.fence/target", "needs sm_90a; the target is sm_80"),
        ("wgmma.fence.sync.aligned;", "sm_90", "wgmma.fence/target", "needs sm_90a; the target is sm_90"),
        (
            "barrier.cluster.arrive;", "sm_80", "barrier.cluster_arrive/target",
            "needs sm_90 or higher; the target is sm_80",
        ),
        ("mov.u32 %r0, %cluster_ctarank;", "sm_80", "move.mov/a", "needs sm_90 or higher; the target is sm_80"),
        ("ld.shared::cta.u32 %r0, [slot];", "sm_80", "memory.ld/ptx", "needs PTX 7.8; the text is PTX 7.0"),
    ],
)  # fmt: skip
def test_launch_refuses_what_the_module_lacks(body: str, target: str, code: str, message: str) -> None:
    text = module(body, target, "7.0" if code.endswith("/ptx") else "8.8")
    with pytest.raises(wl.Unsupported) as caught:
        launch(text)
    [found] = caught.value.diagnostics
    assert found.code == code
    assert found.place.startswith("<ptx>:10:")
    assert message in found.message
    # The launch has the code and the sentence of the checker.
    assert [(each.code, each.message) for each in wl.check(text).errors if each.span == found.span] == [
        (found.code, found.message)
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (module("", "sm_90a", "7.8"), "module/version"),
        (module("", "sm_80", directives=".maxclusterrank 4"), "directive/target"),
        (
            module("", "sm_90", "8.0", directives=".reqntid 128 .reqnctapercluster 1 .blocksareclusters"),
            "directive/ptx",
        ),
        (module("call helper;", "sm_80", items=FUNCTION), "wgmma.fence/target"),
    ],
    ids=["version", "directive of a later target", "directive of a later version", "called function"],
)
def test_launch_refuses_the_header_directives_and_called_functions(text: str, code: str) -> None:
    with pytest.raises(wl.Unsupported) as caught:
        launch(text)
    assert [each.code for each in caught.value.diagnostics] == [code]
    assert code in {each.code for each in wl.check(text).errors}


def test_launch_ignores_other_kernels_and_functions_that_are_not_called() -> None:
    launch(module("", "sm_80", items=FUNCTION))


@pytest.mark.parametrize("version", ["9.9", "8.8"])
def test_launch_accepts_later_targets_and_unknown_later_versions(version: str) -> None:
    launch(module("barrier.cluster.arrive; barrier.cluster.wait;", "sm_100f", version))


def test_launch_accepts_what_ptxas_accepts_beyond_the_manual() -> None:
    # The manual has these fences from PTX 8.6 on, and ptxas accepts them on sm_70 with PTX 6.0.
    text = module("fence.acquire.gpu;", "sm_70", "6.0").partition(".visible .entry other")[0]
    assert wl.check(text).ok
    launch(text)


def test_sanitize_sessions_triton_and_the_command_refuse_too(tmp_path: Any, capsys: Any) -> None:
    text, array = module("wgmma.fence.sync.aligned;", "sm_90"), np.zeros(4, np.int32)
    with pytest.raises(wl.Unsupported, match="needs sm_90a"):
        wl.sanitize(text, "k", grid=1, block=128, args=[array])
    with wl.Session() as session:
        argument = session.array(array)
        with pytest.raises(wl.Unsupported, match="needs sm_90a"):
            session.launch(text, "k", grid=1, block=128, args=[argument])
    with pytest.raises(wl.Unsupported, match="needs sm_90a"):
        _load("k", text.encode())
    path = tmp_path / "k.ptx"
    path.write_text(text)
    assert main(["run", str(path), "--kernel", "k", "--grid", "1", "--block", "128", "--arg", "0"]) == 2
    assert "needs sm_90a; the target is sm_90" in capsys.readouterr().err


def test_a_kernel_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    real = availability.check_availability

    def counted(program: Any) -> None:
        checked.append(program.kernel.name)
        real(program)

    monkeypatch.setattr(availability, "check_availability", counted)
    text = module("mov.u32 %r0, 7;", "sm_80")
    for _ in range(3):
        launch(text)
    assert checked == ["k"]
