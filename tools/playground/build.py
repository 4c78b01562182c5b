"""Build `build/playground/files.js`, the script with all files that the page `docs/playground/` needs.

    npm ci --ignore-scripts --prefix tools/playground
    python tools/playground/build.py

A browser reads no files from the disk except scripts, styles and pictures. The files are therefore strings in a script,
compressed with gzip and encoded in base64. The packages of Python are compiled to bytecode, so that they load fast.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "playground"
OUTPUT = ROOT / "build" / "playground" / "files.js"
PYODIDE = HERE / "node_modules" / "pyodide"
NUMPY = (
    HERE
    / "node_modules"
    / "@bentopdf"
    / "pymupdf-wasm"
    / "assets"
    / "numpy-2.2.5-cp313-cp313-pyodide_2025_0_wasm32.whl"
)
"""Wheel of NumPy that the developers of Pyodide built. The package around it is not used."""
NUMPY_DIGEST = "125230b4c3ecd08803e5c43f1162e017c0718d9f253146225a705a952b9c16c2"
_UNUSED_NUMPY = ("/tests/", "/f2py/", "/include/", "/_pyinstaller/", "/distutils/")
_UNUSED_WARPLOOM = ("cli", "integrations", "kernels", "lsp")
_RUNTIME = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def main() -> None:
    """Write the script."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        add_numpy(folder)
        add_warploom(folder)
        subprocess.run(["node", HERE / "compile.mjs", folder], check=True, cwd=HERE)  # noqa: S603, S607
        packages = archive(folder)
    contents = {name: (PYODIDE / name).read_bytes() for name in _RUNTIME}
    contents["packages.zip"] = packages
    contents["worker.js"] = (PAGE / "worker.js").read_bytes()
    contents["examples.json"] = json.dumps(examples(), ensure_ascii=False).encode()
    packed = {name: base64.b64encode(gzip.compress(data, mtime=0)).decode() for name, data in contents.items()}
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(f"const FILES = {json.dumps(packed)};\n", "ascii")


def add_numpy(folder: Path) -> None:
    """Extract the parts of NumPy that Warploom uses."""
    data = NUMPY.read_bytes()
    if hashlib.sha256(data).hexdigest() != NUMPY_DIGEST:
        raise SystemExit(f"{NUMPY.name} differs from the wheel that was tested")
    with zipfile.ZipFile(io.BytesIO(data)) as wheel:
        for name in wheel.namelist():
            is_used = name.endswith((".py", ".so")) or "dist-info/LICENSE" in name
            if is_used and not any(part in name for part in _UNUSED_NUMPY):
                wheel.extract(name, folder)


def add_warploom(folder: Path) -> None:
    """Copy the package, without the parts that need other packages or processes, and the module `session`."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyi")
    shutil.copytree(ROOT / "src" / "warploom", folder / "warploom", ignore=ignored)
    for part in _UNUSED_WARPLOOM:
        shutil.rmtree(folder / "warploom" / part)
    shutil.copy(PAGE / "session.py", folder)


def archive(folder: Path) -> bytes:
    """Return the files of a folder as a ZIP file without compression. The script is compressed as a whole."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as packages:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                packages.writestr(zipfile.ZipInfo(path.relative_to(folder).as_posix()), path.read_bytes())
    return buffer.getvalue()


def examples() -> list[dict[str, str]]:
    """Return the examples of the page: the title, the PTX and the launch file of each."""
    sys.path.insert(0, str(ROOT / "examples"))
    import vector_add

    lines = str(vector_add.add.module).splitlines(keepends=True)
    text = "".join(
        line for line in lines if not line.lstrip().startswith((".loc", ".file"))
    )  # no paths of this machine
    found = [("examples/vector_add", "vector_add", text.rstrip() + "\n")]
    found += [(title, name, (PAGE / f"{name}.ptx").read_text("utf-8")) for title, name in _TITLES.items()]
    return [
        {"title": title, "ptx": ptx, "launch": (PAGE / f"{name}.toml").read_text("utf-8")} for title, name, ptx in found
    ]


_TITLES = {"one tensor-core multiplication": "multiply", "a kernel with three mistakes": "mistakes"}
"""Further examples: the title, and the name of the PTX file and of the launch file in the folder of the page."""


if __name__ == "__main__":
    main()
