"""Branches, calls and exits, and instructions that wait, trap or change the register count.

Source: PTX ISA 9.7.12, 9.7.13.13, 9.7.19.
"""

from warploom.isa.model.effects import Allocate, Collective, Control, Flow
from warploom.isa.model.form import Form, no_effect
from warploom.isa.model.operands import OperandSpec, immediate, inp
from warploom.ptx import Instruction

BRA = Form(
    name="control.bra",
    syntax="bra{.uni}  tgt;",
    operands={"tgt": OperandSpec("label", "none")},
    effects=(Control("jump"),),
    source="PTX ISA 9.7.12.3",
)

BRA.execute(lambda warps, i: warps.branch(i.tgt))

BRX = Form(
    name="control.brx",
    syntax="brx.idx{.uni}  index, tlist;",
    rows="ptx target\n6.0 sm_30",
    operands={"index": inp("u32"), "tlist": OperandSpec("symbol", "none", allows=(".branchtargets",))},
    effects=(Control("jump"),),
    source="PTX ISA 9.7.12.4",
)

BRX.execute(lambda warps, i: warps.branch_table(i.tlist, warps.read(i.index)))

CALL = Form(
    name="control.call",
    syntax="call{.uni}  {(ret-param),} func{, (param-list)}{, targets};",
    operands={
        "ret_param": OperandSpec("tuple", "write"),
        "func": OperandSpec("symbol", "none", allows=("function",)),
        "param_list": OperandSpec("tuple", "read"),
        # only for a call through a register
        "targets": OperandSpec("symbol", "none", allows=(".callprototype", ".calltargets")),
    },
    effects=(Control("call"), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.12.5",
)

CALL.execute(lambda warps, i: warps.call(i.func, i.ret_param, i.param_list))

RET = Form(
    name="control.ret",
    syntax="ret{.uni};",
    effects=(Control("return"), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.12.6",
)

RET.execute(lambda warps, i: warps.leave(whole_kernel=False))

IMPLIED = Instruction(None, "ret")
"""Return instruction that assemblers append to a function body without an end."""

EXIT = Form(name="control.exit", syntax="exit;", effects=(Control("exit"),), source="PTX ISA 9.7.12.7")

EXIT.execute(lambda warps, i: warps.leave(whole_kernel=True))

TRAP = Form(name="control.trap", syntax="trap;", effects=(Control("trap"),), source="PTX ISA 9.7.19.4")

TRAP.execute(lambda warps, i: warps.trap("the kernel executed 'trap'"))

BRKPT = Form(name="control.brkpt", syntax="brkpt;", source="PTX ISA 9.7.19.1")

# Without a debugger, a breakpoint ends the kernel as `trap` does: ptxas emits BPT.TRAP for both, and on an H100 both
# launches fail with CUDA_ERROR_LAUNCH_FAILED. With a debugger the kernel can continue, so the Form declares no end.
BRKPT.execute(lambda warps, i: warps.trap("the kernel executed 'brkpt' without a debugger"))

PMEVENT = Form(
    name="control.pmevent",
    syntax="pmevent{.mask}  a;",
    operands={"a": immediate("u16", lambda slots: range(1 << 16) if slots["mask"] else range(16))},
    source="PTX ISA 9.7.19.3",
)

NANOSLEEP = Form(
    name="control.nanosleep",
    syntax="nanosleep.u32  t;",
    rows="ptx target\n6.2 sm_70",
    operands={"t": inp("u32")},
    source="PTX ISA 9.7.19.2",
)

SETMAXNREG = Form(
    name="control.setmaxnreg",
    syntax="setmaxnreg.action.sync.aligned.u32  imm-reg-count;",
    rows="action ptx target\ninc,dec 8.0 sm_90a,sm_100f,sm_103f,sm_110f,sm_120f",
    operands={"imm_reg_count": immediate("u32", range(24, 257, 8))},
    effects=(
        Collective("warp"),
        Allocate("registers", lambda slots: "take" if slots["action"] == "inc" else "release", "imm_reg_count"),
    ),
    source="PTX ISA 9.7.19.5",
)

SETMAXNREG.execute(lambda warps, i: warps.change_registers(i.imm_reg_count, take=i.action == "inc"))

GRIDDEPCONTROL = Form(
    name="control.griddepcontrol",
    syntax="griddepcontrol.action;",
    rows="action ptx target\nlaunch_dependents,wait 7.8 sm_90",
    source="PTX ISA 9.7.13.13",
)

for _hint in (PMEVENT, NANOSLEEP, GRIDDEPCONTROL):
    _hint.execute(no_effect)
