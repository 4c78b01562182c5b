from __future__ import annotations

from isa.binding import binding, legality_tests, refusal

LEGAL = {
    "bra L;": "control.bra",
    "bra.uni L;": "control.bra",
    "brx.idx %r1, table;": "control.brx",
    "call f;": "control.call",
    "call.uni f, (%r1, %r2);": "control.call",
    "call (%r0), f, (%r1);": "control.call",
    "call (%r0), %rd1, (%r1), prototype;": "control.call",
    "call %rd1, targets;": "control.call",
    "ret;": "control.ret",
    "ret.uni;": "control.ret",
    "exit;": "control.exit",
    "trap;": "control.trap",
    "brkpt;": "control.brkpt",
    "pmevent 7;": "control.pmevent",
    "nanosleep.u32 100;": "control.nanosleep",
    "setmaxnreg.dec.sync.aligned.u32 24;": "control.setmaxnreg",
    "griddepcontrol.wait;": "control.griddepcontrol",
}

REFUSED = {
    "bra;": "control.bra/operands",
    "bra 5;": "control.bra/tgt",
    "brx.idx %r1;": "control.brx/operands",
    "call (%r0), (%r1);": "control.call/func",
    "ret %r1;": "control.ret/operands",
    "setmaxnreg.inc.sync.aligned.u32 20;": "control.setmaxnreg/imm_reg_count",
    "setmaxnreg.inc.sync.aligned.u32 264;": "control.setmaxnreg/imm_reg_count",
    "griddepcontrol.signal;": "control.griddepcontrol/action",
}

test_legal, test_refused = legality_tests(LEGAL, REFUSED)


def test_places_of_a_call() -> None:
    assert set(binding("call f;").operands) == {"func"}
    assert set(binding("call f, (%r1);").operands) == {"func", "param_list"}
    assert set(binding("call (%r0), f, (%r1), t;").operands) == {"ret_param", "func", "param_list", "targets"}


def test_a_register_count_says_what_is_legal() -> None:
    assert refusal("setmaxnreg.inc.sync.aligned.u32 20;").message == (
        "operand imm-reg-count is 20; expected 24, 32, 40, 48, 56, … 256"
    )
