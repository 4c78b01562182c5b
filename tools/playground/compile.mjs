// Compile Python files for the Python of the playground: node compile.mjs FOLDER
//
// Each file NAME.py of the folder is replaced by NAME.pyc.

import { loadPyodide } from "pyodide";

const python = await loadPyodide();
python.FS.mkdir("/files");
python.FS.mount(python.FS.filesystems.NODEFS, { root: process.argv[2] }, "/files");
python.runPython(`
import compileall, pathlib, py_compile
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
assert compileall.compile_dir("/files", quiet=1, legacy=True, invalidation_mode=mode, ddir="", optimize=0)
for path in pathlib.Path("/files").rglob("*.py"):
    path.unlink()
`);
process.exit(0);
