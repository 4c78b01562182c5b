"""Calls and the instructions they stand for."""

from __future__ import annotations

import pytest

import warploom as wl
from warploom.author import (
    AuthorError,
    Location,
    f32,
    kernel,
    new,
    pointer,
    pred,
    ptx,
    shared,
    tensor_map,
    u16,
    u32,
    u64,
)
from warploom.author.overloads import catalogue
from warploom.isa.model.form import forms


def lines_of(build, *, target="sm_90a", version=""):
    """The instructions that a function writes, without those around it."""

    @kernel(target=target, ptx_version=version)
    def made(x: pointer(f32), t: tensor_map):
        new(pred)
        build(x, t)

    function = made.module.functions[made.entry]
    body = [str(each) for each in function.body.instructions()]
    start = next(k for k, line in enumerate(body) if line.startswith("cvta.param"))
    return [line for line in body[start + 1 :] if line != "ret;"], made


CALLS = {
    "mad.lo.u32": lambda x, t: ptx.mad_lo(new(u32), 2, new(u32)),
    "add.rn.ftz.f32": lambda x, t: ptx.add(new(f32), 1.5, rnd="rn", ftz=True),
    "mul.wide.u32": lambda x, t: ptx.mul_wide(new(u32), 4),
    "and.b32": lambda x, t: ptx.and_(new(u32), 7, type="b32"),
    "ld.global.f32": lambda x, t: ptx.ld(x.element(3), type=f32),
    "ld.global.nc.v4.f32": lambda x, t: ptx.ld(x.element(0), vec="v4", type=f32, nc=True),
    "st.relaxed.gpu.global.u32": lambda x, t: ptx.st(x.element(0), new(u32), sem="relaxed", scope="gpu", type=u32),
    "ld.shared::cta.v2.u32": lambda x, t: ptx.ld(shared(64).at(8), vec="v2", type=u32),
    "atom.global.add.u32": lambda x, t: ptx.atom_add(x.element(0), 1, type=u32),
    "shfl.sync.idx.b32": lambda x, t: ptx.shfl_idx(new(u32), 0, 31, -1),
    "elect.sync": lambda x, t: ptx.elect(-1),
    "setp.lt.and.u32": lambda x, t: ptx.setp(new(u32), 3, new(pred), CmpOp="lt", BoolOp="and", type=u32),
    "bar.sync": lambda x, t: ptx.bar(1, 128),
    "mbarrier.init.shared::cta.b64": lambda x, t: ptx.mbarrier_init(shared(8).at(), 1),
    "mbarrier.try_wait.parity.shared::cta.b64": lambda x, t: ptx.mbarrier_try_wait(
        shared(8).at(), new(u32), parity=True
    ),
    "mbarrier.arrive.shared::cluster.b64": lambda x, t: ptx.mbarrier_arrive(Location(new(u32), 0, "shared::cluster")),
    "mbarrier.arrive.expect_tx.shared::cta.b64": lambda x, t: ptx.mbarrier_arrive_expect_tx(shared(8).at(), 64),
    "fence.proxy.async.shared::cta": lambda x, t: ptx.fence_proxy(proxykind="async", space="shared::cta"),
    "setmaxnreg.inc.sync.aligned.u32": lambda x, t: ptx.setmaxnreg_inc(232),
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes": lambda x, t: (
        ptx.cp_async_bulk_tensor(
            Location(new(u32), 0, "shared::cluster"),
            Location(t, coordinates=(0, new(u32))),
            Location(new(u32), 0, "shared::cluster"),
            dim="2d",
            dst="shared::cluster",
        )
    ),
    "ld.global.L2::cache_hint.f32": lambda x, t: ptx.ld(x.element(0), type=f32, cache_policy=new(u64)),
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16": lambda x, t: ptx.wgmma_mma_async(
        [new(f32) for _ in range(8)], new(u64), new(u64), 1, 1, 1, 0, 0, n=16, dtype=f32, atype="bf16"
    ),
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": lambda x, t: ptx.mma(
        [new(u32) for _ in range(4)],
        [new(u32) for _ in range(2)],
        [new(f32) for _ in range(4)],
        shape="m16n8k16",
        dtype=f32,
        atype="f16",
        btype="f16",
        ctype=f32,
    ),
    "cvt.rn.bf16x2.f32": lambda x, t: ptx.cvt(new(f32), new(f32), rnd="rn", dtype="bf16x2"),
    "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16": lambda x, t: ptx.ldmatrix(
        shared(512).at(), shape="m8n8", num="x4", type="b16"
    ),
}


@pytest.mark.parametrize("opcode", CALLS)
def test_a_call_is_an_instruction(opcode):
    lines, made = lines_of(CALLS[opcode])
    assert lines[-1].split()[0].rstrip(";") == opcode
    assert wl.check(made.text).ok


def test_registers_in_the_call_and_registers_given():
    def build(x, t):
        total = new(f32)
        assert ptx.add(total, 1.0, out=total) is total
        value, lane = ptx.elect(-1)
        assert (value.type, lane.type) == ("u32", pred)

    assert lines_of(build)[0][0] == "add.f32 %f0, %f0, 0f3F800000;"


def test_what_the_checker_refuses_is_refused_on_its_python_line():
    def build(x, t):
        ptx.mbarrier_init(shared(8).at(), 1 << 21)

    with pytest.raises(AuthorError) as error:
        lines_of(build)
    found = error.value.diagnostics[0]
    assert found.code == "mbarrier.init/count"
    assert found.source.name == __file__
    assert found.source.text[found.span.start : found.span.end].startswith("ptx.mbarrier_init(")


def test_a_form_that_the_target_lacks_is_refused():
    with pytest.raises(AuthorError, match="needs sm_90a"):
        lines_of(lambda x, t: ptx.wgmma_fence(), target="sm_90")


def test_instructions_belong_into_a_kernel():
    with pytest.raises(wl.UsageError, match="only allowed in a function under @kernel"):
        new(u16)


@pytest.mark.parametrize("counts", [(40, 41), (41,)])
def test_an_illegal_constant_is_refused_after_a_legal_one(counts):
    """Neither a call nor a kernel before makes the constant legal."""

    def build(*counts):
        return lines_of(lambda x, t: [ptx.setmaxnreg_dec(count) for count in counts])[0]

    assert build(40) == ["setmaxnreg.dec.sync.aligned.u32 40;"]
    with pytest.raises(AuthorError) as error:
        build(*counts)
    assert error.value.diagnostics[0].code == "control.setmaxnreg/imm_reg_count"


def test_a_call_with_another_word_is_another_instruction():
    def build(x, t):
        ptx.add(new(f32), 1.5, rnd="rn", ftz=True)
        ptx.add(new(f32), 1.5, rnd="rn", ftz=False)

    assert [line.split()[0] for line in lines_of(build)[0]] == ["add.rn.ftz.f32", "add.rn.f32"]


def test_every_form_has_a_python_name():
    assert all(catalogue().values())
    assert {each.form.name for candidates in catalogue().values() for each in candidates} == {
        form.name for form in forms()
    }
