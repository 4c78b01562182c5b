"""Build the distributions and try them where the repository is not.

    python tools/try_release.py [--extras]

The wheel goes into a new virtual environment with an empty home: the package is imported, a kernel runs, and what needs
an extra refuses in one sentence. The source distribution is built and installed in another. With `--extras` each extra
goes into an environment of its own, for it to work alone: `gpu` and `oracle` bring packages of NVIDIA's, a gigabyte.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from fresh import Shell, build

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 x)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [x];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
"""
GPU = (
    'python -c "import numpy as np, warploom as wl; x = np.zeros(32, np.int32);'
    " wl.launch('k.ptx', grid=1, block=32, args=[x], device='cuda'); print(x.sum())\" 2>&1 | tail -n 1"
)
REFUSED = {
    "warploom lsp": "pip install 'warploom[lsp]'",
    "warploom lower k.ptx --to nvvm": "pip install 'warploom[mlir]'",
    "warploom evidence mlir": "pip install 'warploom[mlir]'",
    "warploom tune --all": "pip install 'warploom[gpu]'",
    "warploom run k.ptx --grid 1 --block 32 --arg zeros:int32:32 --workers dask": "pip install 'warploom[farm]'",
}
"""What a command says where its extra is not."""

ALONE = {
    "lsp": ('python -c "import warploom.lsp.server"', ""),
    "mlir": ("warploom lower k.ptx --to nvvm", "llvm.func @count"),
    "oracle": (
        "python -c \"from warploom_lab.ptxas.assembler import provide; print(provide('newest'))\"",
        "site-packages/nvidia",
    ),
    "triton": ('python -c "import triton, warploom.integrations.triton"', ""),
    "farm": (
        "warploom run k.ptx --grid 2 --block 32 --arg zeros:int32:32 --workers dask:2 2>&1",
        "on one worker, because its 2 CTAs are one wave",
    ),
    "gpu": (GPU, "there is no GPU|^528$"),
}
"""A command that an extra is for, and a pattern of its answer; a machine without a GPU is told so."""


class Trial:
    """Steps in one environment."""

    def __init__(self, folder: Path, package: str) -> None:
        self.shell = Shell(folder)
        (self.shell.folder / "k.ptx").write_text(KERNEL, encoding="utf-8")
        self.well = True
        self.step("python -m venv venv && . venv/bin/activate")
        self.step(f"pip install '{package}'")

    def step(self, command: str, *, says: str = "", status: int = 0) -> None:
        """Run a command; the pattern `says` is found in what it prints, and nothing of a traceback."""
        begin = time.perf_counter()
        printed, ended = self.shell.run(command)
        said = re.search(says, printed, re.MULTILINE) and "Traceback" not in printed
        right = ended == status and bool(said)
        seconds = time.perf_counter() - begin
        print(f"{'well' if right else 'FAILED':6} {seconds:7.2f} s  {command[:110]}", flush=True)
        if not right:
            print(f"exit status {ended}; expected {status} and {says!r}\n{printed}")
        self.well = self.well and right

    def close(self) -> bool:
        """End it; whether all went well."""
        self.shell.close()
        return self.well


def try_wheel(folder: Path, wheel: Path) -> bool:
    """The package alone."""
    trial = Trial(folder, str(wheel))
    trial.step("warploom --version", says="warploom")
    trial.step("warploom check k.ptx")
    trial.step("warploom run k.ptx --grid 1 --block 32 --arg zeros:int32:32 --save arg0=x.npy")
    trial.step("python -c \"import numpy; print(numpy.load('x.npy').sum())\"", says="528")
    trial.step("warploom sanitize k.ptx --grid 1 --block 32 --arg zeros:int32:32", says="nothing to report")
    trial.step("warploom layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --html -o page.html")
    trial.step("warploom explain sanitize.wgmma/wait", says="## Good")
    trial.step("warploom author k.ptx", says="def count")
    trial.step("warploom completion bash", says="complete")
    for command, hint in REFUSED.items():
        trial.step(command, says=re.escape(hint), status=2)
    trial.step(GPU, says="needs NVIDIA's Python packages")
    return trial.close()


def main() -> int:
    """Try everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extras", action="store_true", help="try each extra alone too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        wheel, source = build(folder / "dist")
        well = [try_wheel(folder / "wheel", wheel)]
        trial = Trial(folder / "source", str(source))
        trial.step("warploom --version", says="warploom")
        well.append(trial.close())
        for extra, (command, says) in ALONE.items() if options.extras else ():
            trial = Trial(folder / extra, f"{wheel}[{extra}]")
            trial.step(command, says=says)
            well.append(trial.close())
    print("all is well" if all(well) else "not all is well")
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
