"""Branches, calls and exits, and instructions that wait, trap or change the register count.

Source: PTX ISA 9.7.12, 9.7.13.13, 9.7.19.
"""

from warploom.isa.model.effects import Allocate, Collective, Control, Flow, GridDependency
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
BRA.describe(
    "Continues at a label; a guard restricts the branch to some lanes. Use `.uni` if all active lanes take the branch.",
    "bra.uni END; END:",
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
BRX.describe(
    "Continues at the label of a table that the index selects. Use it for a `switch` with many cases; an index"
    " beyond the table has no defined result.",
    "TABLE: .branchtargets END, END; brx.idx %r0, TABLE; END:",
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
CALL.describe(
    "Calls a function with arguments in registers or `.param` variables. Use it for functions that are not"
    " inlined; an indirect call needs a prototype or a list of targets.",
    "call.uni helper, ();",
)

CALL.execute(lambda warps, i: warps.call(i.func, i.ret_param, i.param_list))

RET = Form(
    name="control.ret",
    syntax="ret{.uni};",
    effects=(Control("return"), Flow(unwritten="ignore")),
    source="PTX ISA 9.7.12.6",
)
RET.describe(
    "Returns from a function, or ends the thread in a kernel. Use it at the end of functions and kernels.", "ret;"
)

RET.execute(lambda warps, i: warps.leave(whole_kernel=False))

IMPLIED = Instruction(None, "ret")
"""Return instruction that assemblers append to a function body without an end."""

EXIT = Form(name="control.exit", syntax="exit;", effects=(Control("exit"),), source="PTX ISA 9.7.12.7")
EXIT.describe(
    "Ends the thread, in a function too. Use it where a thread has no more work and no barrier expects the thread.",
    "exit;",
)

EXIT.execute(lambda warps, i: warps.leave(whole_kernel=True))

TRAP = Form(name="control.trap", syntax="trap;", effects=(Control("trap"),), source="PTX ISA 9.7.19.4")
TRAP.describe("Stops the grid with an error. Use it for assertions.", "@%p0 trap;")

TRAP.execute(lambda warps, i: warps.trap("the kernel executed 'trap'"))

BRKPT = Form(name="control.brkpt", syntax="brkpt;", source="PTX ISA 9.7.19.1")
BRKPT.describe("Stops the thread in a debugger. Use it in development only.", "@%p0 brkpt;")

# Without a debugger, a breakpoint ends the kernel as `trap` does: ptxas emits BPT.TRAP for both, and on an H100 both
# launches fail with CUDA_ERROR_LAUNCH_FAILED. With a debugger the kernel can continue, so the Form declares no end.
BRKPT.execute(lambda warps, i: warps.trap("the kernel executed 'brkpt' without a debugger"))

PMEVENT = Form(
    name="control.pmevent",
    syntax="pmevent{.mask}  a;",
    operands={"a": immediate("u16", lambda slots: range(1 << 16) if slots["mask"] else range(16))},
    source="PTX ISA 9.7.19.3",
)
PMEVENT.describe("Triggers performance monitor events. Use it to mark a point for profilers.", "pmevent 7;")

NANOSLEEP = Form(
    name="control.nanosleep",
    syntax="nanosleep.u32  t;",
    rows="ptx target\n6.2 sm_70",
    operands={"t": inp("u32")},
    source="PTX ISA 9.7.19.2",
)
NANOSLEEP.describe(
    "Suspends the thread for up to twice the given number of nanoseconds. Use it between two polls of a flag.",
    "nanosleep.u32 100;",
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
SETMAXNREG.describe(
    "Changes the number of registers per thread of a warpgroup: `dec` releases registers, `inc` waits for them."
    " Use it to move registers from producers to consumers; the kernel must state its count at entry.",
    "setmaxnreg.dec.sync.aligned.u32 40;",
)

SETMAXNREG.execute(lambda warps, i: warps.change_registers(i.imm_reg_count, take=i.action == "inc"))

GRIDDEPCONTROL = Form(
    name="control.griddepcontrol",
    syntax="griddepcontrol.action;",
    rows="action ptx target\nlaunch_dependents,wait 7.8 sm_90",
    effects=(GridDependency(lambda slots: _dependency(slots["action"])),),
    source="PTX ISA 9.7.13.13",
)
GRIDDEPCONTROL.describe(
    "Lets dependent grids start (`launch_dependents`), or waits for the grids on which this grid depends"
    " (`wait`). Use it for programmatic dependent launch, to overlap the prologue of one kernel with the end of"
    " another.",
    "griddepcontrol.wait;",
)

GRIDDEPCONTROL.execute(lambda warps, i: warps.grid_control(_dependency(i.action)))


def _dependency(action: str) -> str:
    """Return the kind of the effect `GridDependency`."""
    return "trigger" if action == "launch_dependents" else action


for _hint in (PMEVENT, NANOSLEEP):
    _hint.execute(no_effect)
