"""A fused softmax in Triton, on the machine with no GPU: `python examples/triton_softmax.py` (`warploom[triton]`)."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from warploom.integrations import triton as on_machine


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + at, mask=at < columns, other=-float("inf"))
    grown = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + at, grown / tl.sum(grown, axis=0), mask=at < columns)


def main(rows: int = 64, columns: int = 781) -> None:
    x = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    y = np.zeros_like(x)
    with on_machine.machine(check=True, sanitize=True) as runs:
        softmax[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
    run = runs[-1]
    grown = np.exp(x.astype(np.float64))
    away = abs(y - grown / grown.sum(1, keepdims=True)).max()
    print(f"{run.name}: {run.stats.ctas} CTAs of {run.block} threads, {len(run.findings)} findings")
    print("right to six digits" if away < 1e-6 else f"wrong by {away}")
    print(run.report(), end="")


if __name__ == "__main__":
    main()
