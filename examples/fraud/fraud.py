"""Start and stop the example: a database, payments that arrive, and the stream between them.

    python examples/fraud/fraud.py start          start all of it, in the background
    python examples/fraud/fraud.py card card-007  look a card up
    python examples/fraud/fraud.py stop           stop all of it, and leave nothing behind

FRAUD_DSN leads to a PostgreSQL of yours, 15 or newer; without it one is started in a temporary
folder. FRAUD_FOLDER is that folder.
"""

from __future__ import annotations

import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = Path(
    os.environ.get("FRAUD_FOLDER", Path(tempfile.gettempdir()) / f"muntin-fraud-{os.getuid()}")
)
PATIENCE = 180


def start() -> None:
    """Everything in the background; returns when the first features are there."""
    if FOLDER.exists():
        sys.exit(f"{FOLDER} is there: the example runs, or was not stopped (fraud.py stop)")
    FOLDER.mkdir(mode=0o700)
    dsn = os.environ.get("FRAUD_DSN") or start_database(FOLDER / "database")
    (FOLDER / "dsn").write_text(dsn, encoding="utf-8")
    payments = runpy.run_path(str(HERE / "payments.py"))
    until = datetime.now(UTC)
    payments["write_history"](FOLDER, until)
    (FOLDER / "until").write_text(until.isoformat(), encoding="utf-8")
    (FOLDER / "arriving").mkdir()
    launch("payments", str(FOLDER))
    launch("features", str(FOLDER), dsn)
    print("waiting for the first features")
    limit = time.monotonic() + PATIENCE
    while not seen("card-007"):
        if time.monotonic() > limit or not is_running("features"):
            sys.exit(f"nothing has come, see {FOLDER}/features.log, then fraud.py stop")
        time.sleep(0.5)
    print("running; look a card up with: fraud.py card card-007")


def stop() -> None:
    """End what `start` has started, by the ids that it has noted, and remove the folder."""
    for file in FOLDER.glob("*.pid"):
        with suppress(ProcessLookupError):
            os.killpg(int(file.read_text(encoding="utf-8")), signal.SIGKILL)
    if (FOLDER / "database").exists():
        run_postgres("pg_ctl", "-D", FOLDER / "database/data", "-m", "immediate", "stop")
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("stopped")


def seen(card: str) -> Any:
    """What lookup.py says of a card; nothing while there is no table yet."""
    import psycopg

    lookup = runpy.run_path(str(HERE / "lookup.py"))["lookup"]
    with suppress(psycopg.errors.UndefinedTable):
        return lookup((FOLDER / "dsn").read_text(encoding="utf-8"), card)
    return None


def launch(name: str, *arguments: str) -> None:
    """A script of this folder in a process group of its own, whose id is noted."""
    with (FOLDER / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(HERE / f"{name}.py"), *arguments],
            stdout=log,
            stderr=log,
            env={"PYSPARK_PYTHON": sys.executable, **os.environ},
            start_new_session=True,
        )
    (FOLDER / f"{name}.pid").write_text(str(process.pid), encoding="utf-8")


def is_running(name: str) -> bool:
    """Whether it is there, and not a zombie of this very process."""
    pid = int((FOLDER / f"{name}.pid").read_text(encoding="utf-8"))
    with suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    return True


def start_database(folder: Path) -> str:
    """A PostgreSQL that listens on a socket in the folder alone, and its DSN."""
    folder.mkdir()
    if as_nobody():
        shutil.chown(folder, "nobody", "nogroup")
        FOLDER.chmod(0o711)  # so that the server reaches its own folder
    folder.chmod(0o700)
    data = folder / "data"
    run_postgres("initdb", "-D", data, "-U", "fraud", "--auth=trust", "--encoding=UTF8")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}'"
    run_postgres("pg_ctl", "-D", data, "-l", folder / "log", "-w", "-o", options, "start")
    return f"host={folder} user=fraud dbname=postgres"


def run_postgres(program: str, *arguments: str | Path) -> None:
    """A program of PostgreSQL's: on PATH, or where Debian puts it. It refuses to run as root."""
    found = [shutil.which(program), *sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))]
    programs = [each for each in found if each]
    if not programs:
        sys.exit(
            "PostgreSQL 15 or newer is not installed: apt-get install postgresql, or FRAUD_DSN"
        )
    user: dict[str, Any] = {"user": "nobody", "group": "nogroup"} if as_nobody() else {}
    command = [str(programs[-1]), *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", **user)


def as_nobody() -> bool:
    return os.geteuid() == 0


def main(command: str = "", card: str = "") -> None:
    match command:
        case "start":
            start()
        case "stop":
            stop()
        case "card":
            for name, value in (seen(card) or {}).items():
                print(f"{name:24} {value}")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:3])
