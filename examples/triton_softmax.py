"""Fused softmax in Triton, run without a GPU: `python examples/triton_softmax.py`.

The example needs the extra `triton` (`pip install 'warploom[triton]'`).
"""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from warploom.integrations.triton import emulate


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + at, mask=at < columns, other=-float("inf"))
    exponentials = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + at, exponentials / tl.sum(exponentials, axis=0), mask=at < columns)


def main(rows: int = 64, columns: int = 781) -> None:
    x = np.random.default_rng(0).standard_normal((rows, columns), np.float32)
    y = np.zeros_like(x)
    with emulate(check=True, sanitize=True) as launches:
        softmax[(rows,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
    run = launches[-1]
    exponentials = np.exp(x.astype(np.float64))
    error = abs(y - exponentials / exponentials.sum(1, keepdims=True)).max()
    print(f"{run.name}: {run.stats.ctas} CTAs of {run.block} threads, {len(run.findings)} findings")
    print("right to six digits" if error < 1e-6 else f"wrong by {error}")
    print(run.report(), end="")


if __name__ == "__main__":
    main()
