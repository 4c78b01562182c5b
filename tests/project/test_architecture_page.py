"""Pictures of the architecture page, compared with the import graph and with a launch."""

from __future__ import annotations

import json
import subprocess
import sys

import grimp
import pytest

from warploom_lab.pages.architecture import CPU_PATH, GPU_PATH, SHARED_PATH, Step, layers

STEPS = list(dict.fromkeys((*SHARED_PATH, *CPU_PATH, *GPU_PATH)))
SHARED_WITH_THE_EMULATOR = {"warploom.emulator", "warploom.emulator.stats", "warploom.emulator.times"}
"""Modules of the emulator that a launch on a GPU imports: the type of the statistics in `Run`."""

LAUNCH = """
import json, sys
import numpy as np
import warploom as wl
text = '''
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd; .reg .b32 %r;
  ld.param.u64 %rd, [p]; mov.u32 %r, 7; add.u32 %r, %r, 1; st.global.u32 [%rd], %r; ret;
}'''
values = np.zeros(1, np.uint32)
wl.launch(text, grid=1, block=1, args=[values], sanitize=True)
assert values[0] == 8
print(json.dumps([name for name in sys.modules if name.startswith("warploom.")]))
"""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Return the imports that are executed, without those for type checking."""
    return grimp.build_graph("warploom", cache_dir=None, exclude_type_checking_imports=True)


@pytest.mark.parametrize(
    "step", [step for step in STEPS if step.caller], ids=lambda step: f"{step.caller}-{step.module}"
)
def test_every_arrow_is_an_import(graph: grimp.ImportGraph, step: Step) -> None:
    caller, module = f"warploom.{step.caller}", f"warploom.{step.module}"
    if step.interface:
        interface = f"warploom.{step.interface}"
        assert caller == interface or interface in graph.find_upstream_modules(caller)
        assert graph.direct_import_exists(importer=module, imported=interface, as_packages=True)
        assert not graph.direct_import_exists(importer=caller, imported=module, as_packages=True)
    elif step.through:
        assert imports(graph, caller, f"warploom.{step.through}")
        assert imports(graph, f"warploom.{step.through}", module)
    else:
        assert imports(graph, caller, module)


def imports(graph: grimp.ImportGraph, importer: str, imported: str) -> bool:
    """Return True if a module imports another, directly or through the package of the other."""
    sources = {importer, *graph.find_descendants(importer)}
    direct = {found for source in sources for found in graph.find_modules_directly_imported_by(source)}
    package = imported.rpartition(".")[0]
    if any(found == imported or found.startswith(f"{imported}.") for found in direct):
        return True
    return package in direct and imported in graph.find_modules_directly_imported_by(package)


def test_a_launch_on_a_gpu_does_not_reach_the_emulator(graph: grimp.ImportGraph) -> None:
    reached = {found for step in GPU_PATH for found in graph.find_upstream_modules(f"warploom.{step.module}")}
    assert {name for name in reached if name.startswith("warploom.emulator")} <= SHARED_WITH_THE_EMULATOR


def test_a_launch_on_the_cpu_loads_the_modules_of_its_path() -> None:
    done = subprocess.run([sys.executable, "-c", LAUNCH], check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout))
    assert {f"warploom.{step.module}" for step in (*SHARED_PATH, *CPU_PATH)} <= loaded
    assert "warploom.runtime.cuda" not in loaded


def test_the_layers_contain_every_package(graph: grimp.ImportGraph) -> None:
    names = {f"warploom.{name}" for layer in layers() for name in layer}
    assert names == graph.find_children("warploom") - {"warploom.__main__"}
