"""Compare the speed of `wl.kernels.attention` and its gradients with cuDNN through PyTorch.

python bench/attention.py [--json FILE]

The benchmark needs a Hopper GPU and PyTorch, and takes half a minute. The two libraries run alternately. Each line has
the rates in TFLOP/s and the ratio. All problems have bf16 and 16384 tokens in all; heads times head size is 2048.
Before the times of a problem, its results are compared. The command ends with exit status 1 if they differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import warploom as wl
from warploom.gpu import Gpu, measure
from warploom.gpu.timing import driver_release

_TOKENS, _COLUMNS = 16384, 2048
_MOST_DIFFERENCE = 0.05  # norm of the difference of two results, relative to the norm of a result
Call = Callable[[Any], object]


def _forward(torch: Any, head: int, tokens: int, *, causal: bool) -> dict[str, Call]:
    """Return the calls of both libraries for the forward pass."""
    from torch.nn.attention import SDPBackend, sdpa_kernel  # pyright: ignore[reportMissingImports]

    q, k, v = _arrays(torch, head, tokens, 3)
    planes = [each.transpose(1, 2) for each in (q, k, v)]
    out = torch.empty_like(q)

    def theirs(_: Any) -> object:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(*planes, is_causal=causal)

    return {"cudnn": theirs, "ours": lambda _: wl.kernels.attention(q, k, v, causal=causal, out=out)}


def _backward(torch: Any, head: int, tokens: int, *, causal: bool) -> dict[str, Call]:
    """Return the calls of both libraries for the gradients."""
    q, k, v, do = _arrays(torch, head, tokens, 4)
    o, lse = wl.kernels.attention(q, k, v, causal=causal, return_lse=True)
    grads = [torch.empty_like(q) for _ in range(3)]
    planes = [each.transpose(1, 2) for each in (q, k, v)]
    aten = torch.ops.aten
    made = aten._scaled_dot_product_cudnn_attention(*planes, None, True, 0.0, causal, False)
    result, logarithms, q_ends, k_ends, q_most, k_most, seed, offset, *_ = made

    def theirs(_: Any) -> object:
        return aten._scaled_dot_product_cudnn_attention_backward(
            do.transpose(1, 2), *planes, result, logarithms, seed, offset, None, q_ends, k_ends, q_most, k_most, 0.0,
            causal,
        )  # fmt: skip

    def ours(_: Any) -> object:
        dq, dk, dv = grads
        return wl.kernels.attention_backward(do, q, k, v, o, lse, causal=causal, dq=dq, dk=dk, dv=dv)

    return {"cudnn": theirs, "ours": ours}


def _arrays(torch: Any, head: int, tokens: int, count: int) -> list[Any]:
    shape = _TOKENS // tokens, tokens, _COLUMNS // head, head
    return [torch.randn(*shape, device="cuda").bfloat16() for _ in range(count)]


def _difference(torch: Any, calls: dict[str, Call]) -> float:
    """Return the largest relative difference between corresponding results of both libraries."""
    results = {key: call(None) for key, call in calls.items()}
    pairs = zip(*[each if isinstance(each, tuple) else (each,) for each in results.values()], strict=True)
    norm = torch.linalg.vector_norm
    return max(
        float(norm(theirs.transpose(1, 2).float() - ours.float()) / norm(theirs.float())) for theirs, ours in pairs
    )


def _cases() -> Iterator[tuple[str, Callable[..., dict[str, Call]], int, int]]:
    """Yield the name, the function for the calls, the head size, and the operations for a score and a column."""
    for head in (64, 128, 256):
        yield "forward", _forward, head, 4
    for head in (64, 128):
        yield "backward", _backward, head, 10


def main() -> None:
    """Measure all problems, and print one line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the results")
    options = parser.parse_args()
    import torch  # pyright: ignore[reportMissingImports]

    gpu, results = Gpu(), list[dict[str, Any]]()
    for name, calls, head, operations in _cases():
        for causal in (False, True):
            for tokens in (2048, 8192, 16384):
                sides, mask = calls(torch, head, tokens, causal=causal), "causal" if causal else "full"
                if not (wrong := _difference(torch, sides)) <= _MOST_DIFFERENCE:
                    sys.exit(f"{name} head {head} {mask} {tokens}: the results differ by {wrong:.3f}")
                times = measure(gpu, {key: [call] for key, call in sides.items()}, repetitions=8, warm_up=0.15)
                work = operations * _TOKENS * tokens * _COLUMNS / (2 if causal else 1)
                rates = {key: round(1e-6 * work / each.median, 1) for key, each in times.items()}
                ratio = round(rates["ours"] / rates["cudnn"], 3)
                results.append(
                    {"pass": name, "head": head, "causal": causal, "tokens": tokens, **rates, "ratio": ratio}
                )
                print(f"{name} head {head} {mask} {tokens}: ours {rates['ours']}, cuDNN {rates['cudnn']}, {ratio}")
    for name in ("forward", "backward"):
        ratios = [each["ratio"] for each in results if each["pass"] == name]
        print(f"{name}: geometric mean {geometric_mean(ratios):.3f}, least {min(ratios):.3f}")
    if options.json:
        header = {"gpu": gpu.name, "driver": driver_release(), "torch": torch.__version__}
        options.json.write_text(json.dumps({**header, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
