"""Empty environment for release tests: an empty home and folder, a shell, and the built distributions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_KEPT = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_MARK = "=end of command="


def build(into: Path) -> tuple[Path, Path]:
    """Build the wheel and the source distribution and return their paths.

    Errors: CalledProcessError.
    """
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(into)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    return next(into.glob("*.whl")), next(into.glob("*.tar.gz"))


def environment(home: Path) -> dict[str, str]:
    """Return environment variables as a new user has them."""
    python = Path(getattr(sys, "_base_executable", sys.executable)).resolve().parent
    kept = {name: os.environ[key] for name in _KEPT for key in (name, name.lower()) if key in os.environ}
    return kept | {
        "HOME": str(home),
        "PATH": f"{python}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "COLUMNS": "100",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_QUIET": "1",
    }


class Shell:
    """Bash session in an empty folder with an empty home; variables persist between commands."""

    def __init__(self, folder: Path) -> None:
        home, self.folder = folder / "home", folder / "work"
        for path in (home, self.folder):
            path.mkdir(parents=True)
        self.environment = environment(home)
        self._bash = subprocess.Popen(
            ["/bin/bash"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: str) -> tuple[str, int]:
        """Run a command and return its output and exit status."""
        assert self._bash.stdin
        assert self._bash.stdout
        self._bash.stdin.write(f"{command}\nprintf '\\n%s %s\\n' '{_MARK}' $?\n")
        self._bash.stdin.flush()
        printed: list[str] = []
        for line in self._bash.stdout:
            if line.startswith(_MARK):
                return "".join(printed).removesuffix("\n"), int(line.split()[-1])
            printed.append(line)
        raise ChildProcessError(f"the shell ended: {''.join(printed)}")

    def close(self) -> None:
        """End the session."""
        assert self._bash.stdin
        self._bash.stdin.close()
        self._bash.wait()
