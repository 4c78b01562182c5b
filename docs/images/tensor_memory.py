"""Draw the tensor memory of the GEMM with warps of different roles, from the tutorial page on Blackwell.

python docs/images/tensor_memory.py docs/images/tensor_memory.svg
"""

from __future__ import annotations

import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import warploom as wl
from warploom.view.tensor_picture import tensor_svg

PAGE = Path(__file__).parents[1] / "tutorial" / "blackwell-gemm.md"
LAST = "check(roles, 2"
"""Text of the last block of the page that is executed."""


def definitions() -> dict[str, Any]:
    """Execute the page up to the block with `LAST`, and return its names."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text[: text.index("```", text.index(LAST)) + 3], re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.py"
        file.write_text("\n".join(blocks), encoding="utf-8")
        return runpy.run_path(str(file))


def main() -> None:
    """Run the kernel with a trace, and write the picture."""
    page = definitions()
    kernel, tiles, a, b, d = (page[name] for name in ("roles", "tiles", "a", "b", "d"))
    run = wl.launch(
        kernel.module, grid=2, block=kernel.block, shared=kernel.shared,
        args=[tiles(a, 128), tiles(b, 64), d, 2, 3, 5], schedule="lazy", trace=True,
    )  # fmt: skip
    assert run.trace is not None
    Path(sys.argv[1]).write_text(tensor_svg(run.trace), encoding="utf-8")


if __name__ == "__main__":
    main()
