"""Server that records the launches of CUDA programs on a GPU."""

from __future__ import annotations

import socket

from warploom.integrations.cuda_driver.functions import numbered_functions
from warploom.integrations.cuda_driver.listener import Listener
from warploom.integrations.cuda_driver.protocol import Connection, Disconnected
from warploom.integrations.cuda_driver.recording import launches as _launches
from warploom.integrations.cuda_driver.recording.driver import INTERCEPTORS, Interception
from warploom.integrations.cuda_driver.recording.log import CaptureLog
from warploom.integrations.cuda_driver.recording.program import SHARED_BYTES, CapturedProgram

INTERCEPTED = frozenset(INTERCEPTORS)
"""Symbols of the functions that the server executes."""
assert _launches  # its import registers interceptors


class CaptureServer:
    """Server for the programs of one user. `name` is the name of its socket, for WARPLOOM_CAPTURE."""

    def __init__(self, log: CaptureLog) -> None:
        self._log = log
        self._functions = numbered_functions()
        self._listener = Listener(self._create, self._serve)
        self.name = self._listener.name

    def close(self) -> None:
        """Stop accepting connections. Open connections continue until the program closes them."""
        self._listener.close()

    def _create(self, process: int) -> CapturedProgram:
        return CapturedProgram(process, self._log)

    def _serve(self, peer: socket.socket, program: CapturedProgram) -> None:
        """Execute the calls of one thread of a program until the connection ends. Errors: Disconnected."""
        connection = Connection(peer, program.file, SHARED_BYTES)
        while True:
            number, words = connection.receive()
            if number >= len(self._functions):
                raise Disconnected
            call = Interception(program, connection, self._functions[number], words)
            with program.lock:
                try:
                    status = INTERCEPTORS[call.symbol](call)
                except Disconnected:
                    raise
                except Exception as error:  # noqa: BLE001 -- the program must get an answer
                    what = f"internal error in {call.symbol}: {type(error).__name__}: {error}; please report it"
                    self._log.skip(what)
                    status = call.forward() if call.status is None else call.status
            connection.finish(status)
