"""Socket on which the threads of CUDA programs connect with this process."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Generic, Protocol, TypeVar

from warploom.integrations.cuda_driver.protocol import Disconnected, image_of, process_of


class Closing(Protocol):
    """State of a program that can be released."""

    def close(self) -> None:
        """Release the resources of the program."""
        ...


_State = TypeVar("_State", bound=Closing)


class Listener(Generic[_State]):
    """Socket for the programs of one user.

    `create` returns the state of a new program, given the number of its process. `serve` executes the calls of one
    thread, given its connection and the state of its program. It runs in a thread of its own, and ends with
    Disconnected.

    `name` is the name of the socket. `programs` has the states of the programs by process and execution.
    """

    def __init__(self, create: Callable[[int], _State], serve: Callable[[socket.socket, _State], None]) -> None:
        self.name = f"warploom-{secrets.token_hex(16)}"
        self.programs: dict[tuple[int, int], _State] = {}
        self._create, self._serve = create, serve
        self._lock = Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(b"\0" + self.name.encode())
        self._socket.listen()
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Stop accepting connections. Open connections continue until the program closes them."""
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            Thread(target=self._run, args=(peer,), daemon=True).start()

    def _run(self, peer: socket.socket) -> None:
        with peer:
            process, user = process_of(peer)
            if user != os.getuid():
                return
            try:
                self._serve(peer, self._program(process, image_of(peer)))
            except Disconnected:
                return

    def _program(self, process: int, image: int) -> _State:
        """Return the state of a program. Forget programs that have ended or have been replaced by `exec`."""
        with self._lock:
            for key in [*self.programs]:
                if (key[0] == process and key[1] != image) or not Path(f"/proc/{key[0]}").exists():
                    self.programs.pop(key).close()
            if (process, image) not in self.programs:
                self.programs[process, image] = self._create(process)
            return self.programs[process, image]
