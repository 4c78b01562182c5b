"""Server that executes the calls of the driver library."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Lock

from warploom.diagnostics.wording import os_reason
from warploom.integrations.cuda_driver import box_copies as _box_copies
from warploom.integrations.cuda_driver import contexts as _contexts
from warploom.integrations.cuda_driver import device_queries as _device_queries
from warploom.integrations.cuda_driver import graphs as _graphs
from warploom.integrations.cuda_driver import linker as _linker
from warploom.integrations.cuda_driver import pointers as _pointers
from warploom.integrations.cuda_driver import pools as _pools
from warploom.integrations.cuda_driver import runtime_library as _runtime_library
from warploom.integrations.cuda_driver import tensor_maps as _tensor_maps
from warploom.integrations.cuda_driver.captures import captured_work, check_captures
from warploom.integrations.cuda_driver.devices import DeviceModel
from warploom.integrations.cuda_driver.functions import PER_THREAD, implementation_of, numbered_functions
from warploom.integrations.cuda_driver.launch_log import LaunchLog
from warploom.integrations.cuda_driver.listener import Listener
from warploom.integrations.cuda_driver.program import CudaProgram, DriverCall, ThreadState
from warploom.integrations.cuda_driver.protocol import Connection, Disconnected
from warploom.integrations.cuda_driver.statuses import DriverError, KernelFailure, Status
from warploom.integrations.cuda_driver.stream_order import BETWEEN_LAUNCHES, follow_call

_REGISTERING = (
    _box_copies, _contexts, _device_queries, _graphs, _linker, _pointers, _pools, _runtime_library, _tensor_maps,
)  # fmt: skip
"""Modules whose import registers implementations of driver functions."""
_FINISH_SECONDS = 10
_BEFORE_INIT = frozenset({"cuInit", "cuDriverGetVersion"})
_AFTER_FAILURE = frozenset({
    "cuInit", "cuDriverGetVersion", "cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPopCurrent_v2", "cuCtxPushCurrent_v2",
    "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRetain",
    "cuDeviceGet", "cuDeviceGetCount", "cuDeviceGetAttribute", "cuDeviceGetName", "cuDevicePrimaryCtxGetState",
    "cuDeviceTotalMem_v2", "cuCtxDestroy_v2", "cuCtxGetDevice", "cuCtxGetFlags", "cuPointerGetAttribute",
    "cuGraphCreate", "cuGraphDestroy", "cuGraphExecDestroy", "runtime_get_context", "runtime_put",
    "runtime_delete", "runtime_get", "runtime_check",
})  # fmt: skip
"""Functions that work after a kernel has failed."""


class Server:
    """Server for the programs of one user.

    Each thread of a program has a connection and a thread of the server.

    `name` is the name of its socket, for the environment variable WARPLOOM_EXEC.
    """

    def __init__(self, model: DeviceModel, log: LaunchLog) -> None:
        self._model = model
        self._log = log
        self._functions = [(symbol, implementation_of(symbol)) for symbol in numbered_functions()]
        self._refused: set[str] = set()
        self._lock = Lock()
        self._listener = Listener(self._create, self._serve)
        self._programs = self._listener.programs
        self.name = self._listener.name

    def close(self) -> None:
        """Stop accepting connections. Open connections continue until the program closes them."""
        self._listener.close()

    def finish(self) -> None:
        """Run the launches for which the programs did not wait. The programs have ended.

        A kernel that another thread of a program was running is left alone after some seconds.
        """
        for program in [*self._programs.values()]:
            if program.lock.acquire(timeout=_FINISH_SECONDS):
                program.connection = None
                try:
                    with suppress(KernelFailure):
                        program.launches.finish()
                finally:
                    program.lock.release()

    def _create(self, process: int) -> CudaProgram:
        """Return the state of a new program. Errors: Disconnected if there is no memory for the device."""
        try:
            return CudaProgram(process, self._model, self._log)
        except OSError as error:
            self._log.say(f"the device memory of {self._model.memory} bytes is not available: {os_reason(error)}")
            raise Disconnected from None

    def _serve(self, peer: socket.socket, program: CudaProgram) -> None:
        """Execute the calls of one thread of a program until the connection ends. Errors: Disconnected."""
        connection = Connection(peer, program.file, self._model.memory)
        call = DriverCall(program, ThreadState(), connection, self._report_missing)
        while True:
            try:
                number, words = connection.receive()
                connection.finish(self._execute(call, number, words))
            except Disconnected:
                with program.lock, suppress(KernelFailure):  # launches for which the program did not wait
                    program.connection = None
                    program.launches.finish()
                raise

    def _execute(self, call: DriverCall, number: int, words: tuple[int, ...]) -> Status:
        """Execute a call, and return its status."""
        if number >= len(self._functions):
            raise Disconnected
        symbol, implementation = self._functions[number]
        program = call.program
        if implementation is None:
            self._report_missing(f"the driver function {symbol}")
            return Status.NOT_SUPPORTED
        try:
            with program.lock:
                if not program.is_initialised and symbol not in _BEFORE_INIT and not symbol.startswith("runtime_"):
                    return Status.NOT_INITIALIZED
                program.connection = call.connection
                call.has_own_default = symbol.endswith(PER_THREAD)
                if not symbol.startswith(BETWEEN_LAUNCHES):
                    with suppress(KernelFailure):  # its status follows
                        program.launches.finish()
                if program.failure is not None and symbol not in _AFTER_FAILURE:
                    is_destroyed = any(context.is_destroyed for context in call.thread.contexts[-1:])
                    return Status.CONTEXT_IS_DESTROYED if is_destroyed else program.failure
                capture = None
                if program.captures:
                    check_captures(call, symbol)
                    capture = captured_work(call, symbol, implementation.stream_of(words))
                try:
                    implementation(call, words)
                except DriverError:
                    if capture is not None:
                        capture.is_valid = False
                    raise
                follow_call(call, symbol, words, implementation.stream_of(words))
        except KernelFailure:
            return Status.SUCCESS  # a launch ends before its kernel; the next calls fail
        except DriverError as error:
            return error.status
        except Disconnected:
            raise
        except Exception as error:  # noqa: BLE001 -- the program must get an answer
            self._log.findings += 1
            self._log.say(f"internal error in {symbol}: {type(error).__name__}: {error}; please report it")
            return Status.UNKNOWN
        return Status.SUCCESS

    def _report_missing(self, what: str) -> None:
        """Print once that something is not implemented."""
        with self._lock:
            if what in self._refused:
                return
            self._refused.add(what)
        self._log.say(f"{what} is not implemented; the call returns {Status.NOT_SUPPORTED.symbol}")
