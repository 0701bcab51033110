"""A PostgreSQL server of the tests: in a temporary folder, on a free port of the loopback."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

OLDEST = 15
USER, PASSWORD = "ada", "s3cret-Word"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # nothing here survives a crash of the machine
    "max_connections": "40",
}


@dataclass(frozen=True)
class PostgresServer:
    """Where it listens."""

    port: int

    @property
    def dsn(self) -> str:
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def query(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, which is committed; none if it has none."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []


def find_programs() -> Path | None:
    """The folder of initdb: on PATH, or where Debian puts it."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    releases = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    folders += sorted(
        (file.parent for file in releases), key=lambda f: int(f.parent.name), reverse=True
    )
    new = [f for f in folders if not f.parent.name.isdigit() or int(f.parent.name) >= OLDEST]
    return new[0] if new else None


@contextmanager
def serve(programs: Path) -> Iterator[PostgresServer]:
    """A server of its own; PostgreSQL refuses to run as root, so root runs it as somebody else."""
    user: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="muntin-postgres-"))
    secret = folder / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    if user:
        for path in (folder, secret):
            shutil.chown(path, user["user"], user["group"])
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **user}
    try:
        made = [f"{programs}/initdb", "-D", f"{folder}/data", "-U", USER, f"--pwfile={secret}"]
        forms = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
        subprocess.run([*made, *forms], check=True, **quiet)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = " ".join(f"-c {name}='{value}'" for name, value in SETTINGS.items())
        control = [f"{programs}/pg_ctl", "-D", f"{folder}/data", "-l", f"{folder}/log"]
        started = [*control, "-w", "-o", f"-p {port} {options}", "start"]
        subprocess.run(started, check=True, **quiet)
        try:
            yield PostgresServer(port)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
