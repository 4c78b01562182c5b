"""Build the distributions and try them outside the repository.

    python tools/try_release.py [--extras]

The wheel is installed into a new virtual environment with an empty home. A kernel is checked, run and sanitized there,
and features that need an extra must refuse with a clear message. The source distribution is built and installed in
another environment. With `--extras` each extra is tried in an environment of its own; `gpu` downloads about 1 GB.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

from fresh_environment import Shell, build

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
    "warploom tune --all": "pip install 'warploom[gpu]'",
    "warploom run k.ptx --grid 1 --block 32 --arg zeros:int32:32 --workers dask": "pip install 'warploom[farm]'",
}
"""Commands that need an extra, and the hint in their message without it."""

ALONE = {
    "lsp": ('python -c "import warploom.lsp.server"', ""),
    "mlir": ("warploom lower k.ptx --to nvvm", "llvm.func @count"),
    "exec": ('python -c "import lz4.block, zstandard, warploom.integrations.cuda_driver.fat_binary"', ""),
    "triton": ('python -c "import triton, warploom.integrations.triton"', ""),
    "farm": (
        "warploom run k.ptx --grid 2 --block 32 --arg zeros:int32:32 --workers dask:2 2>&1",
        "on one worker, because its 2 CTAs are one wave",
    ),
    "gpu": (GPU, "there is no GPU|^528$"),
}
"""A command for each extra, and a pattern of its output, with or without a GPU."""


class Trial:
    """Sequence of shell commands in one environment."""

    def __init__(self, folder: Path, package: str) -> None:
        self.shell = Shell(folder)
        (self.shell.folder / "k.ptx").write_text(KERNEL, encoding="utf-8")
        self.ok = True
        self.step("python -m venv venv && . venv/bin/activate")
        self.step(f"pip install '{package}'")

    def step(self, command: str, *, output: str = "", status: int = 0) -> None:
        """Run a command; its exit status must be `status`, and its output must match the pattern `output`.

        The output must not contain a traceback.
        """
        begin = time.perf_counter()
        printed, ended = self.shell.run(command)
        matches = re.search(output, printed, re.MULTILINE) and "Traceback" not in printed
        right = ended == status and bool(matches)
        seconds = time.perf_counter() - begin
        print(f"{'ok' if right else 'FAILED':6} {seconds:7.2f} s  {command[:110]}", flush=True)
        if not right:
            print(f"exit status {ended}; expected {status} and {output!r}\n{printed}")
        self.ok = self.ok and right

    def close(self) -> bool:
        """End the session and return True if every step succeeded."""
        self.shell.close()
        return self.ok


def try_wheel(folder: Path, wheel: Path) -> bool:
    """Install the wheel without extras, run the commands, and return True if every step succeeded."""
    trial = Trial(folder, str(wheel))
    trial.step("warploom --version", output="warploom")
    trial.step("warploom check k.ptx")
    trial.step("warploom run k.ptx --grid 1 --block 32 --arg zeros:int32:32 --save arg0=x.npy")
    trial.step("python -c \"import numpy; print(numpy.load('x.npy').sum())\"", output="528")
    trial.step("warploom sanitize k.ptx --grid 1 --block 32 --arg zeros:int32:32", output="nothing to report")
    trial.step("warploom layout mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 --html -o page.html")
    trial.step("warploom explain sanitize.wgmma/wait", output="## Good")
    trial.step("warploom author k.ptx", output="def count")
    trial.step("warploom completion bash", output="complete")
    trial.step("PATH=/nonexistent $PWD/venv/bin/warploom exec -- /bin/true")
    for command, hint in REFUSED.items():
        trial.step(command, output=re.escape(hint), status=2)
    trial.step(GPU, output="needs NVIDIA's Python packages")
    return trial.close()


def main() -> int:
    """Build and try the distributions and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extras", action="store_true", help="also try each extra alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        wheel, source = build(folder / "dist")
        ok = [try_wheel(folder / "wheel", wheel)]
        trial = Trial(folder / "source", str(source))
        trial.step("warploom --version", output="warploom")
        ok.append(trial.close())
        for extra, (command, output) in ALONE.items() if options.extras else ():
            trial = Trial(folder / extra, f"{wheel}[{extra}]")
            trial.step(command, output=output)
            ok.append(trial.close())
    print("all steps succeeded" if all(ok) else "some steps failed")
    return 0 if all(ok) else 1


if __name__ == "__main__":
    sys.exit(main())
