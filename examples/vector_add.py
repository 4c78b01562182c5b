"""Vector addition z = x + y as a first kernel: `python examples/vector_add.py [cpu|cuda]`."""

from __future__ import annotations

import sys

import numpy as np

import warploom as wl
from warploom.author import f32, pointer, ptx, special, u32, when


@wl.kernel(target="sm_80")
def add(x: pointer(f32), y: pointer(f32), z: pointer(f32), n: u32):
    i = ptx.mad_lo(special("ctaid.x"), special("ntid.x"), special("tid.x"))
    with when(i < n):
        z[i] = x[i] + y[i]


def main(device: str = "cpu", n: int = 1000) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    z = np.zeros(n, np.float32)
    wl.launch(add.module, grid=-(-n // 128), block=128, args=[x, y, z, n], device=device)
    print(f"{n} sums on {device}, {np.count_nonzero(z != x + y)} of them wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
