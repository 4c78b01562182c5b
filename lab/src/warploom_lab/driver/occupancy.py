"""Cases of the occupancy of the device."""

from __future__ import annotations

import ctypes

from warploom_lab.driver.case import Driver, Word, calls, case
from warploom_lab.driver.structures import attribute, configuration

_INT = ctypes.c_int()
_ACTIVE = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
_BEST = "cuOccupancyMaxPotentialBlockSize"
_CLUSTER, _COOPERATIVE = 4, 2

calls("occupancy", {
    "null_function": (_ACTIVE, _INT, None, 32, 0),
    "null_function_flags": (f"{_ACTIVE}WithFlags", _INT, None, 32, 0, 0),
    "best_null_function": (_BEST, _INT, _INT, None, None, 0, 0),
    "available_null_function": ("cuOccupancyAvailableDynamicSMemPerBlock", Word(), None, 1, 32),
    "cluster_size_null_function": ("cuOccupancyMaxPotentialClusterSize", _INT, None, configuration()),
    "clusters_null_function": ("cuOccupancyMaxActiveClusters", _INT, None, configuration()),
})  # fmt: skip


@case
def active(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "kept", "bounded", "required"):
        function = cuda.function(name, module)
        for threads, shared in (
            (32, 0), (1, 0), (64, 0), (128, 0), (256, 0), (1024, 0), (1025, 0), (0, 0), (-1, 0), (33, 0), (32, 1024),
            (32, 49152), (32, 49153), (32, 100_000), (32, 1 << 20), (768, 0), (32, 1 << 40),
        ):  # fmt: skip
            value = ctypes.c_int(-9)
            cuda(_ACTIVE, value, function, threads, shared)
            cuda.note(f"{name} {threads} {shared}", value.value)
    cuda(_ACTIVE, None, cuda.function("nothing", module), 32, 0)


@case
def active_after_attribute(cuda: Driver) -> None:
    function, value = cuda.function("nothing"), ctypes.c_int()
    cuda("cuFuncSetAttribute", function, 8, 232448)
    for shared in (49152, 49153, 65536, 100_000, 115_712, 115_713, 232448, 232449):
        value.value = -9
        cuda(_ACTIVE, value, function, 32, shared)
        cuda.note(f"shared {shared}", value.value)


@case
def active_flags(cuda: Driver) -> None:
    function = cuda.function("nothing")
    for flags in (0, 1, 2, 100):
        value = ctypes.c_int(-9)
        cuda(f"{_ACTIVE}WithFlags", value, function, 64, 0, flags)
        cuda.note(f"flags {flags}", value.value)


@case
def best(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "bounded", "required", "kept"):
        function = cuda.function(name, module)
        for shared, limit in (
            (0, 0),
            (0, 100),
            (0, 32),
            (0, 5),
            (0, -1),
            (0, 4096),
            (10_000, 0),
            (49153, 0),
            (1 << 20, 0),
        ):
            grid, block = ctypes.c_int(-9), ctypes.c_int(-9)
            cuda(_BEST, grid, block, function, None, shared, limit)
            cuda.note(f"{name} {shared} {limit}", grid.value, block.value)
    function = cuda.function("nothing", module)
    cuda(_BEST, None, _INT, function, None, 0, 0)
    cuda(_BEST, _INT, None, function, None, 0, 0)
    for flags in (0, 1, 2):
        cuda(f"{_BEST}WithFlags", _INT, _INT, function, None, 0, 0, flags)


@case
def best_with_a_callback(cuda: Driver) -> None:
    function = cuda.function("nothing")

    def shared(threads: int) -> int:
        return threads * 64

    size = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(shared)
    grid, block = ctypes.c_int(-9), ctypes.c_int(-9)
    cuda(_BEST, grid, block, function, size, 0, 0)
    cuda.note("best", grid.value, block.value)


@case
def available_shared(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "kept"):
        function = cuda.function(name, module)
        for ctas, threads in (
            (1, 32),
            (2, 32),
            (4, 128),
            (32, 32),
            (33, 32),
            (0, 32),
            (1, 0),
            (1, 1025),
            (-1, 32),
            (3, 1024),
        ):
            size = Word(99)
            cuda("cuOccupancyAvailableDynamicSMemPerBlock", size, function, ctas, threads)
            cuda.note(f"{name} {ctas} {threads}", size.value)
    cuda("cuOccupancyAvailableDynamicSMemPerBlock", None, cuda.function("nothing", module), 1, 32)


@case
def cluster_sizes(cuda: Driver) -> None:
    module = cuda.module()
    for name in ("nothing", "clustered"):
        function, value = cuda.function(name, module), ctypes.c_int()
        for block, shared in (
            ((32, 1, 1), 0),
            ((1024, 1, 1), 0),
            ((1025, 1, 1), 0),
            ((32, 1, 1), 1 << 20),
            ((0, 1, 1), 0),
        ):
            value.value = -9
            chosen = configuration((16, 1, 1), block, shared=shared)
            cuda("cuOccupancyMaxPotentialClusterSize", value, function, chosen)
            cuda.note(f"{name} {block} {shared}", value.value)
    cuda("cuOccupancyMaxPotentialClusterSize", None, cuda.function("nothing", module), configuration())
    cuda("cuOccupancyMaxPotentialClusterSize", _INT, cuda.function("nothing", module), None)


@case
def active_clusters(cuda: Driver) -> None:
    module = cuda.module()
    function, clustered = cuda.function("nothing", module), cuda.function("clustered", module)
    for sizes in ((1, 1, 1), (2, 1, 1), (0, 0, 0), (16, 1, 1), (32, 1, 1), (3, 1, 1)):
        cuda(
            "cuOccupancyMaxActiveClusters",
            _INT,
            function,
            configuration((96, 1, 1), (32, 1, 1), attribute(_CLUSTER, *sizes)),
        )
    cuda("cuOccupancyMaxActiveClusters", _INT, function, configuration((96, 1, 1), (32, 1, 1)))
    cuda(
        "cuOccupancyMaxActiveClusters",
        _INT,
        function,
        configuration((0, 1, 1), (32, 1, 1), attribute(_CLUSTER, 2, 1, 1)),
    )
    cuda(
        "cuOccupancyMaxActiveClusters",
        _INT,
        function,
        configuration((96, 1, 1), (2048, 1, 1), attribute(_CLUSTER, 2, 1, 1)),
    )
    cuda("cuOccupancyMaxActiveClusters", _INT, clustered, configuration((96, 1, 1), (32, 1, 1)))
    cuda("cuOccupancyMaxActiveClusters", None, function, configuration())
    cuda("cuOccupancyMaxActiveClusters", _INT, function, None)
