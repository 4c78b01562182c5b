"""Calls of functions that the GPU driver defines: vprintf, __assertfail, malloc and free."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from emulator.services import DECLARED, free, malloc, module, printf, string
from emulator.texts import HEADER

import warploom as wl
from warploom.emulator.loader import load

pytestmark = pytest.mark.usefixtures("each_engine")


@pytest.fixture(params=["interpreter", "auto"])
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", request.param)


ADDRESS = "mov.u64 %rd10, fmt; cvta.global.u64 %rd10, %rd10;"
COORDINATES = f"{ADDRESS} st.local.u32 [%rd8], %r1; st.local.u32 [%rd8+4], %r0;\n{printf()}"
GREETS = module(COORDINATES, string("fmt", b"%d:%d\n"))


def _expected(ctas: int, threads: int) -> str:
    return "".join(f"{cta}:{thread}\n" for cta in range(ctas) for thread in range(threads))


def _out(size: int = 64) -> np.ndarray:
    return np.zeros(size, np.uint64)


def test_a_kernel_prints_all_kinds_of_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    body = f"""{ADDRESS}
    st.local.u32 [%rd8], -3; mov.f64 %fd0, 0d4004000000000000; st.local.f64 [%rd8+8], %fd0;
    st.local.u64 [%rd8+16], %rd0; st.local.u64 [%rd8+24], 81985529216486895;
    {printf()} st.global.u32 [%rd0+8], %r10;"""
    out = _out(4)
    out.view(np.uint8)[:4] = [*b"str", 0]
    run = wl.launch(module(body, string("fmt", b"%d %.2f %s %llx\n")), grid=1, block=1, args=[out])
    assert run.output == "-3 2.50 str 123456789abcdef\n"
    assert capsys.readouterr().out == run.output
    assert out[1] == 4


def test_strings_come_from_shared_and_local_memory() -> None:
    body = f"""{ADDRESS} .shared .b8 text[4]; mov.u32 %r2, 0x00696873; st.shared.u32 [text], %r2;
    mov.u64 %rd2, text; cvta.shared.u64 %rd2, %rd2; st.local.u64 [%rd8], %rd2;
    mov.u32 %r2, 0x00636f6c; st.local.u32 [%rd8+32], %r2; add.u64 %rd3, %rd9, 32; st.local.u64 [%rd8+8], %rd3;
    {printf()}"""
    run = wl.launch(module(body, string("fmt", b"%s %s")), grid=1, block=1, args=[_out()], output=lambda text: None)
    assert run.output == "shi loc"


def test_the_order_of_the_output_does_not_depend_on_waves_and_workers() -> None:
    for workers in (1, 2, 3):
        got: list[str] = []
        run = wl.launch(GREETS, grid=80, block=40, args=[_out()], workers=workers, output=got.append)
        assert run.output == _expected(80, 40)
        assert got == [run.output]


def test_lanes_with_different_formats_print_in_lane_order() -> None:
    body = f"""{ADDRESS} mov.u64 %rd11, other; cvta.global.u64 %rd11, %rd11; and.b32 %r3, %r0, 1;
    setp.eq.u32 %p1, %r3, 0; selp.b64 %rd10, %rd10, %rd11, %p1; setp.eq.u32 %p2, %r0, 2; selp.b64 %rd10, 0, %rd10, %p2;
    st.local.u32 [%rd8], %r0; {printf()} mad.wide.u32 %rd1, %r0, 4, %rd0; st.global.u32 [%rd1], %r10;"""
    out = np.zeros(32, np.int32)
    text = module(body, string("fmt", b"even %d;"), string("other", b"odd;"))
    run = wl.launch(text, grid=1, block=5, args=[out], output=lambda text: None)
    assert run.output == "even 0;odd;odd;even 4;"
    assert out[:5].tolist() == [1, 0, -1, 0, 1]


def test_indirect_and_guarded_calls_of_services() -> None:
    body = f"""{ADDRESS} st.local.u32 [%rd8], %r0; mov.u64 %rd4, vprintf; setp.lt.u32 %p1, %r0, 3;
    {{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd10; st.param.b64 [b], %rd9;
    proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);
    @%p1 call (r), %rd4, (a, b), proto; }}"""
    run = wl.launch(module(body, string("fmt", b"%d,")), grid=1, block=8, args=[_out()], output=lambda text: None)
    assert run.output == "0,1,2,"


def test_output_before_a_trap_is_kept() -> None:
    text = module(f"{COORDINATES} trap;", string("fmt", b"%d:%d\n"))
    got: list[str] = []
    with pytest.raises(wl.Trap) as error:
        wl.launch(text, grid=1, block=3, args=[_out()], output=got.append)
    assert error.value.output == _expected(1, 3) == "".join(got)
    run = wl.launch(text, grid=1, block=3, args=[_out()], raises=False, output=got.append)
    assert run.output == _expected(1, 3)


def test_long_output_is_cut_with_a_warning() -> None:
    text = module(f"{ADDRESS} st.local.u32 [%rd8], %r1; {printf()}", string("fmt", b"%6000d"))
    run = wl.launch(text, grid=10, block=32, args=[_out()], output=lambda text: None)
    calls = (1 << 20) // 6000
    assert run.output == "".join(f"{call // 32:6000}" for call in range(calls))
    assert [(each.code, each.severity.value) for each in run.findings] == [("emulator.output", "warning")]


def test_a_format_without_an_end_is_out_of_bounds() -> None:
    out = np.full(4, 0x4141414141414141, np.uint64)
    with pytest.raises(wl.Trap, match="out of bounds") as error:
        wl.launch(module(printf("%rd0", "0")), grid=1, block=1, args=[out])
    assert error.value.diagnostics[0].code == "emulator.out-of-bounds"


def test_sanitize_finds_a_race_with_printf_and_none_in_correct_code() -> None:
    assert not wl.sanitize(GREETS, grid=2, block=64, args=[_out()], output=lambda text: None).findings
    body = f"{ADDRESS} setp.eq.u32 %p1, %r0, 32; @%p1 st.global.u8 [%rd0], 65; st.local.u64 [%rd8], %rd0; {printf()}"
    run = wl.sanitize(module(body, string("fmt", b"%s")), grid=1, block=64, args=[_out()], output=lambda text: None)
    assert {each.code for each in run.findings} == {"sanitize.race/global"}


def test_a_failed_assertion_names_its_place() -> None:
    names = ("expr", "file", "func")
    body = "".join(f"mov.u64 %rd{k}, {name}; cvta.global.u64 %rd{k}, %rd{k};\n" for k, name in enumerate(names, 10))
    body += """setp.ne.u32 %p1, %r0, 5; mov.u32 %r4, %tid.y; setp.ne.or.u32 %p1, %r4, 3, %p1; @%p1 bra OK;
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
    st.param.b64 [a], %rd10; st.param.b64 [b], %rd11; st.param.b32 [c], 17; st.param.b64 [d], %rd12;
    st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }
    OK: """
    texts = (string("expr", b"x > 3"), string("file", b"a.cu"), string("func", b"void f(int)"))
    with pytest.raises(wl.Trap) as error:
        wl.launch(module(body, *texts), grid=(1, 2), block=(10, 4), args=[_out()])
    (found,) = error.value.diagnostics
    assert found.code == "emulator.assert"
    sentence = "a.cu:17: void f(int): block: [0,0,0], thread: [5,3,0] Assertion `x > 3` failed."
    assert found.message.startswith(f"{sentence}; kernel k, CTA (0, 0, 0), warp 1, lane 3")


STORE = f"""add.u32 %r2, %r0, 1; mul.wide.u32 %rd2, %r2, 4; {malloc("%rd2", "%rd3")}
st.u32 [%rd3], %r0; mad.wide.u32 %rd1, %r0, 8, %rd0; st.global.u64 [%rd1], %rd3;"""


def test_allocations_are_distinct_and_the_engines_agree() -> None:
    out = _out()
    text = module(f"{STORE} ld.u32 %r5, [%rd3]; setp.ne.u32 %p1, %r5, %r0; @%p1 trap; {free('%rd3')} {free('0')}")
    wl.launch(text, grid=1, block=64, args=[out])
    assert len(set(out.tolist())) == 64
    assert not (out % 16).any()
    assert not wl.sanitize(text, grid=1, block=64, args=[out]).findings


@pytest.mark.parametrize(
    ("body", "code", "sentence"),
    [
        ("st.u32 [%rd3+128], 1;", "out-of-bounds", "the allocation of 128 bytes at .* ends just before"),
        ("st.u32 [%rd3+-4], 1;", "out-of-bounds", "the address is before the first allocation"),
        (f"{free('%rd3')} ld.u32 %r3, [%rd3+4];", "use-after-free", "4 bytes into the freed allocation of"),
        (f"{free('%rd3')} {free('%rd3')}", "free", "was freed before"),
        (f"add.u64 %rd3, %rd3, 16; {free('%rd3')}", "free", "not the start of an allocation: the address is 16 bytes"),
        (free("%rd0"), "free", "the heap is at"),
    ],
)
def test_wrong_uses_of_the_heap_are_traps(body: str, code: str, sentence: str) -> None:
    with pytest.raises(wl.Trap, match=sentence) as error:
        wl.launch(module(f"{malloc('128', '%rd3')} {body}"), grid=1, block=2, args=[_out()])
    assert error.value.diagnostics[0].code == f"emulator.{code}"


def test_the_heap_has_8_mib_for_all_ctas() -> None:
    body = f"{malloc('1048000', '%rd3')} mad.wide.u32 %rd1, %r1, 8, %rd0; st.global.u64 [%rd1], %rd3;"
    for workers in (1, 2):
        out = _out(2000)
        wl.launch(module(body), grid=2000, block=1, args=[out], workers=workers)
        assert np.count_nonzero(out) == 8


def test_memory_that_malloc_returns_again_has_no_races() -> None:
    # The second warp allocates when the first has freed its memory, which fills most of the heap.
    body = f"{malloc('6000000', '%rd3')} st.u32 [%rd3], %r0; {free('%rd3')}"
    text = f"""and.b32 %r2, %r0, 31; setp.ne.u32 %p1, %r2, 0; @%p1 bra END;
    setp.ne.u32 %p2, %r0, 0; @%p2 bra SECOND; {body} bra END; SECOND: {body} END: """
    run = wl.launch(module(text), grid=1, block=64, args=[_out()], sanitize=True)
    assert not run.findings


def test_a_loop_that_fills_the_heap_is_not_endless() -> None:
    # The registers are the same in each iteration.
    text = """mov.u64 %rd4, 4096; bra FIRST; FIRST: bra AGAIN;
    AGAIN: call (%rd3), malloc, (%rd4); setp.ne.u64 %p1, %rd3, 0; mov.u64 %rd3, 0; @%p1 bra AGAIN;"""
    wl.launch(module(text), grid=1, block=1, args=[_out()])


def test_aligned_allocations() -> None:
    body = """{ .param .b64 s; .param .b64 a; .param .b64 p; st.param.b64 [s], 8; st.param.b64 [a], 256;
    call.uni (p), __nv_aligned_device_malloc_impl, (s, a); ld.param.b64 %rd3, [p]; }
    mad.wide.u32 %rd1, %r0, 8, %rd0; st.global.u64 [%rd1], %rd3;"""
    out = _out()
    wl.launch(module(body), grid=1, block=64, args=[out])
    assert len(set(out.tolist())) == 64
    assert not (out % 256).any()


def test_wrong_declarations_and_launches_from_the_device_are_refused() -> None:
    text = HEADER + (
        ".extern .func (.param .b32 r) vprintf(.param .b32 format, .param .b64 arguments);\n"
        ".entry k() { .param .b32 a; .param .b64 b; .param .b32 r; call (r), vprintf, (a, b); ret; }"
    )
    with pytest.raises(wl.Unsupported, match=r"parameters of 4, 8 and results of 4 bytes; expected 8, 8 and"):
        wl.launch(text, grid=1, block=1, args=[])
    launches = text.replace("vprintf", "__cudaCDP2LaunchDeviceV2")
    with pytest.raises(wl.Unsupported, match="'__cudaCDP2LaunchDeviceV2' is a function of the CUDA device runtime"):
        wl.launch(launches, grid=1, block=1, args=[])


def test_a_program_with_services_can_be_pickled() -> None:
    program = load(wl.parse(GREETS))
    assert pickle.loads(pickle.dumps(program)).services.keys() == program.services.keys()
    assert DECLARED in GREETS
