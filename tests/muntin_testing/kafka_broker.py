"""A Kafka broker of the tests: broker and controller in one process, on free ports of loopback."""

import base64
import os
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PATIENCE = 120
"""Seconds in which a broker is up, even on a busy machine."""

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{broker}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def serve_kafka(jars: Path) -> Iterator[str]:
    """host:port of a broker made of Kafka's own jars; it ends with the block."""
    java = [f"{os.environ['JAVA_HOME']}/bin/java", "-Xmx512m", "-XX:TieredStopAtLevel=1"]
    java += ["-cp", f"{jars}/*"]
    with tempfile.TemporaryDirectory(prefix="muntin-kafka-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        broker, controller = free_ports(2)
        text = SETTINGS.format(broker=broker, controller=controller, folder=folder)
        settings = f"{folder}/server.properties"
        Path(settings).write_text(text, encoding="utf-8")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        formatting = [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", settings]
        with (folder / "log").open("ab") as log:
            subprocess.run(formatting, check=True, stdout=log, stderr=log)
            process = subprocess.Popen([*java, "kafka.Kafka", settings], stdout=log, stderr=log)
        try:
            _wait(process, broker, folder / "log")
            yield f"127.0.0.1:{broker}"
        finally:
            process.kill()  # nothing of it is needed any more
            process.wait()


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    """Until it takes connections."""
    limit = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, log.read_text()[-3000:]
        assert time.monotonic() < limit, "the broker did not start"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
