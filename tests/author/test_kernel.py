"""Kernels written in Python, run on the machine."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import warploom as wl
import warploom.runtime.api as runtime_api
from warploom.author import (
    bounds,
    branch,
    directive,
    f32,
    forever,
    guarded,
    kernel,
    label,
    loop,
    new,
    otherwise,
    parameter,
    pointer,
    ptx,
    put,
    s32,
    shared,
    special,
    u32,
    when,
    while_,
)
from warploom.runtime.api import Run


@kernel
def add(x: pointer(f32), y: pointer(f32), z: pointer(f32), n: u32):
    i = ptx.mad_lo(special("ctaid.x"), special("ntid.x"), special("tid.x"))
    with when(i < n):
        z[i] = x[i] + y[i]


def test_vector_add():
    x, y = (np.random.default_rng(seed).standard_normal(1000).astype(np.float32) for seed in (0, 1))
    z = np.zeros_like(x)
    assert not list(wl.check(add.text))
    wl.launch(add.module, grid=8, block=128, args=[x, y, z, 1000])
    np.testing.assert_array_equal(z, x + y)


def test_the_text_names_python_lines():
    lines = Path(__file__).read_text().splitlines()
    named = re.findall(r"^ *\.loc 1 (\d+) 0 // test_kernel\.py:\1$", add.text, re.MULTILINE)
    shown = [lines[int(number) - 1].strip() for number in named]
    assert f'.file 1 "{__file__}"' in add.text
    assert shown[1:4] == [
        'i = ptx.mad_lo(special("ctaid.x"), special("ntid.x"), special("tid.x"))',
        "with when(i < n):",
        "z[i] = x[i] + y[i]",
    ]


def test_the_text_names_the_calls_that_lead_to_a_line():
    """A line of a function is preceded by the line of its call, unless that directive still applies."""

    def twice(value):
        value += 1
        value += 2

    @kernel
    def made():
        value = new(u32, 0)
        twice(value)
        for _ in range(2):
            twice(value)

    start = made.function.__code__.co_firstlineno
    lines = [line.partition(" // ")[2] for line in made.text.splitlines() if ".loc" in line]
    here = Path(__file__).name
    calls, found = [f"{here}:{start + 3}", f"{here}:{start + 5}"], [f"{here}:{start + 2}"]
    for call, again in ((calls[0], 1), (calls[1], 2)):
        found += [call, *[f"{here}:{start - 3 + k} @[ {call} ]" for _ in range(again) for k in (0, 1)]]
    assert lines[: len(found)] == found


# Launching ------------------------------------------------------------------------------------------------------


@kernel
def scaled(x: pointer(f32), tile: parameter(".param .u32 tile"), *, factor: float = 2.0):
    bounds(threads=32, cluster=(2, 1, 1))
    buffer = shared(4 * 32)
    t = special("tid.x")
    ptx.st((buffer.address() + t * 4).at(space="shared::cta"), x[t], type=f32)
    i = special("ctaid.x") * 32 + t
    x[i] = x[i] * factor + ptx.cvt(ptx.ld(tile, type=u32), rnd="rn", dtype=f32)


def test_a_kernel_declares_its_launch():
    assert (scaled.entry, scaled.shared) == ("scaled", 128)
    assert (scaled.block, scaled.cluster) == ((32, 1, 1), (2, 1, 1))
    assert (add.entry, add.shared, add.block, add.cluster) == ("add", 0, None, None)

    @kernel(name="exact")
    def required(x: pointer(f32)):
        directive(".reqntid 8, 4")

    assert (required.entry, required.block) == ("exact", (8, 4, 1))


@pytest.mark.parametrize("grid", [2, (2, 1), (2, 1, 1)])
def test_a_kernel_launches_itself(grid):
    x = np.arange(64, dtype=np.float32)
    run = scaled.at(factor=3.0)[grid](x, 1)
    assert isinstance(run, Run)
    assert x.tolist() == [3 * each + 1 for each in range(64)]


def test_a_kernel_without_bounds_takes_its_block_with_the_grid():
    x, y, z = np.ones(100, np.float32), np.ones(100, np.float32), np.zeros(100, np.float32)
    add[(4, 1), 32](x, y, z, 100)
    assert (z == 2).all()
    for geometry in (4, (4, 1, 1)):
        with pytest.raises(
            wl.UsageError, match=r"add does not declare the threads of a CTA; expected add\[grid, block\]"
        ):
            add[geometry]


def test_a_launch_goes_where_the_arrays_are(monkeypatch):
    from gpu.nvidia import Tensor

    seen = []
    monkeypatch.setattr(runtime_api, "launch", lambda *_, device, **__: seen.append(device))
    host, there = np.zeros(4, np.float32), Tensor(np.zeros(4, np.float32))
    for args in ((host, 1), (there, host), ([host, there],), (wl.TensorMap.tiled(there, (4,)),), (3,)):
        scaled[2](*args)
    assert seen == ["cpu", "cuda", "cuda", "cuda", "cpu"]


# Control flow and memory ------------------------------------------------------------------------------------------


@kernel
def triangle(out: pointer(u32), *, unroll: int = 1, step: int = 1):
    t = special("tid.x")
    total = new(u32)
    total.set(0)
    for k in loop(0, t, step, unroll=unroll):
        total += k
    out[t] = total


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("unroll", [1, 2, 4])
def test_loops_count_as_range_does(unroll, step):
    out = np.zeros(64, np.uint32)
    wl.launch(triangle.at(unroll=unroll, step=step).module, grid=1, block=64, args=[out])
    assert out.tolist() == [sum(range(0, t, step)) for t in range(64)]


@kernel
def collatz(out: pointer(u32), seen: pointer(s32)):
    t = special("tid.x")
    value, steps = new(u32), new(u32)
    value.set(t + 1)
    steps.set(0)
    with while_(lambda: value != 1):
        odd = (value & 1) == 1
        with when(odd):
            value.set(value * 3 + 1)
        with otherwise():
            value.set(value >> 1)
        steps += 1
    count = new(s32)
    count.set(0)
    with forever() as turn:
        turn.leave(count > 4)
        count += 1
        turn.again(count == 2)
        with guarded(count == 3):
            count.set(10)
    out[t] = steps
    seen[t] = count


def test_branches_and_loops():
    out, seen = np.zeros(32, np.uint32), np.zeros(32, np.int32)
    wl.launch(collatz.module, grid=1, block=32, args=[out, seen])

    def steps(value):
        found = 0
        while value != 1:
            value = 3 * value + 1 if value % 2 else value // 2
            found += 1
        return found

    assert out.tolist() == [steps(t + 1) for t in range(32)]
    assert seen.tolist() == [10] * 32


@kernel
def reverse(x: pointer(f32), *, n: int = 64):
    t = special("tid.x")
    tile = shared(4 * n, align=128)
    place = tile.address() + t * 4
    ptx.st(place.at(space="shared::cta"), x[t], type=f32)
    ptx.bar(0)
    other = tile.address() + (n - 1 - t) * 4
    x[t] = ptx.ld(other.at(space="shared::cta"), type=f32)


@pytest.mark.parametrize("n", [32, 96])
def test_shared_memory(n):
    made, x = reverse.at(n=n), np.arange(n, dtype=np.float32)
    assert made.shared == 4 * n
    run = wl.launch(made.module, grid=1, block=n, shared=made.shared, args=[x], sanitize=True)
    assert not run.findings
    assert x.tolist() == list(range(n))[::-1]


def test_compile_time_arguments_are_checked():
    with pytest.raises(wl.UsageError, match="add has no compile-time parameter 'n'; expected none"):
        add.at(n=3)
    with pytest.raises(wl.UsageError, match="reverse has no compile-time parameter 'm'; expected n"):
        reverse.at(m=3)


def test_a_parameter_needs_a_type():
    @kernel
    def untyped(x):
        pass

    with pytest.raises(wl.UsageError, match="parameter 'x' of untyped has no type"):
        untyped.text  # noqa: B018


@kernel
def halves(x: pointer(u32), *, limit: int = 5):
    """Counts with labels as they are, and takes 64 bits apart."""
    t, count = special("tid.x"), new(u32, 0)
    again, done = label("again"), label("done")
    put(again)
    branch(done, count >= limit)
    count += 1
    branch(again)
    put(done)
    low, high = new(u32), new(u32)
    ptx.mov(ptx.mul_wide(t + 1, 0xC0000000), type="b64", out=[low, high])
    x[2 * t] = low + count
    x[2 * t + 1] = high


def test_labels_and_halves():
    x = np.zeros(64, np.uint32)
    assert not list(wl.check(halves.text))
    wl.launch(halves.module, grid=1, block=32, args=[x])
    product = (np.arange(32, dtype=np.uint64) + 1) * 0xC0000000
    assert x[1::2].tolist() == (product >> 32).tolist()
    assert x[::2].tolist() == ((product + 5) & 0xFFFFFFFF).tolist()
