"""One or several brokers of Apache Kafka, each a broker and a controller, with storage of its own.

Each has four listeners: CLIENT asks nobody for a login and may do everything, SECURE takes SCRAM
and PLAIN over TLS and MUTUAL a client's certificate, under the authorizer; brokers talk to each
other on INTERNAL.
"""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from safepassage.streams.demo.embedded import LOOPBACK, free_port, stop_process
from safepassage.streams.runtime.signals import die_with_parent
from safepassage.streams.topics import OF_COMMANDS, ROLE_NAMES
from tests.streams.front import Certificates, make_certificates

from .jars import VERSION, jars, java

HEAP = "256m"
START_SECONDS = 300.0  # a busy machine takes 90
STOP_SECONDS = 20.0
PASSWORD = "of-the-tests"
ADMIN = "admin"  # may do everything; the others what they are granted
USERS = (ADMIN, *(f"safepassage-{name}" for name in (*ROLE_NAMES, *OF_COMMANDS, "setup")))
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
# One compiler and one collector: a broker of the tests starts often and works little.
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", f"-Xmx{HEAP}")
LOGGING = """log4j.rootLogger=WARN, err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d %p %c: %m%n
"""
# Small where Kafka's defaults are for a machine of its own; group and session limits are its own.
COMMON = {
    "process.roles": "broker,controller",
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT,"
    "SECURE:SASL_SSL,MUTUAL:SSL",
    "inter.broker.listener.name": "INTERNAL",
    "controller.listener.names": "CONTROLLER",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"User:ANONYMOUS;User:{ADMIN};User:CN=localhost",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512,PLAIN",
    "ssl.keystore.type": "PEM",
    "ssl.truststore.type": "PEM",
    "listener.name.mutual.ssl.client.auth": "required",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.cleaner.backoff.ms": "500",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "replica.lag.time.max.ms": "10000",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
}


def address(port: int) -> str:
    return f"{LOOPBACK}:{port}"


@dataclass
class Node:
    """One broker. ``client`` and ``internal`` are where others are told to find it: the ports of
    links where something stands between, and otherwise those where it listens."""

    number: int
    folder: Path
    listening: dict[str, int]
    client: int = 0
    internal: int = 0
    _command: Sequence[str] = ()
    _process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.client = self.client or self.listening["CLIENT"]
        self.internal = self.internal or self.listening["INTERNAL"]

    def start(self) -> None:
        """Start its process, with the records that it has. `ready` says when it answers."""
        with (self.folder / "log").open("ab") as output:
            self._process = subprocess.Popen(
                [*self._command, "kafka.Kafka", str(self.folder / "server.properties")],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one system call, no locks
            )

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Deliver a signal to its process, if it is there; wait for the end that SIGKILL brings."""
        if self._process is not None and self.running:
            self._process.send_signal(number)
            if number is signal.SIGKILL:
                self._process.wait()

    def fill_disk(self) -> None:
        """Let it write no further byte to any file, as on a full disk, until it is started anew."""
        assert self._process
        _, most = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (1, most))

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Stop it, also where it was frozen."""
        if self._process is not None:
            self.signal(signal.SIGCONT)
            stop_process(self._process, seconds)

    def ready(self) -> bool:
        """Whether it takes connections.

        Raises:
            RuntimeError: it ended; with the end of its log.
        """
        if not self.running:
            told = (self.folder / "log").read_text("utf-8", "replace")[-3000:]
            raise RuntimeError(f"broker {self.number} ended:\n{told}")
        with suppress(OSError), socket.create_connection((LOOPBACK, self.listening["CLIENT"]), 1):
            return True
        return False


@dataclass
class Cluster:
    """Brokers in ``folder``; a context that starts them, and stops them whatever happened."""

    folder: Path
    brokers: int = 1
    version: str = VERSION
    settings: dict[str, str] = field(default_factory=dict)
    linked: bool = False
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.certificates = make_certificates(self.folder / "certificates")
        logging = self.folder / "log4j.properties"
        logging.write_text(LOGGING, "utf-8")
        classes = f"{jars(self.version)}/*"
        command = [java(), *JAVA_OPTIONS, f"-Dlog4j.configuration=file:{logging}", "-cp", classes]
        for number in range(self.brokers):
            names = ("CLIENT", "SECURE", "MUTUAL", "INTERNAL", "CONTROLLER")
            ports = {name: free_port() for name in names}
            folder = self.folder / f"node-{number}"
            folder.mkdir()
            between = (free_port(), free_port()) if self.linked else (0, 0)
            self.nodes.append(Node(number, folder, ports, *between, _command=command))
        for node in self.nodes:
            properties = self._properties(node)
            lines = [f"{key}={value}\n" for key, value in properties.items()]
            (node.folder / "server.properties").write_text("".join(lines), "utf-8")
        self._format(command)

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(address(node.client) for node in self.nodes)

    def listener(self, name: str) -> str:
        """The addresses of a listener by its name, such as SECURE."""
        return ",".join(f"localhost:{node.listening[name]}" for node in self.nodes)

    def __enter__(self) -> Cluster:
        try:
            for node in self.nodes:
                node.start()
            self.wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self) -> None:
        """Wait until every broker takes connections.

        Raises:
            RuntimeError: one ended.
            TimeoutError: one was too slow.
        """
        deadline = time.monotonic() + START_SECONDS
        while not all(node.ready() for node in self.nodes):
            if time.monotonic() > deadline:
                raise TimeoutError(f"Apache Kafka did not start within {START_SECONDS:.0f} s")
            time.sleep(0.1)

    def stop(self) -> None:
        """Kill every broker: what they wrote goes with the folder."""
        for node in self.nodes:
            node.signal(signal.SIGKILL)

    def _properties(self, node: Node) -> dict[str, str]:
        copies = str(min(3, self.brokers))
        agreeing = str(min(2, self.brokers))
        advertised = {**node.listening, "CLIENT": node.client, "INTERNAL": node.internal}
        voters = (f"{one.number}@{address(one.listening['CONTROLLER'])}" for one in self.nodes)
        logins = "".join(f' user_{user}="{PASSWORD}"' for user in USERS)
        keystore = node.folder / "keystore.pem"
        pem: Certificates = self.certificates
        keystore.write_bytes(pem.key.read_bytes() + pem.certificate.read_bytes())
        return {
            **COMMON,
            "node.id": str(node.number),
            "controller.quorum.voters": ",".join(voters),
            "listeners": _listeners(node.listening),
            "advertised.listeners": _listeners(
                {name: port for name, port in advertised.items() if name != "CONTROLLER"}
            ),
            "log.dirs": str(node.folder / "records"),
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": agreeing,
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": agreeing,
            "ssl.keystore.location": str(keystore),
            "ssl.truststore.location": str(pem.authority),
            "listener.name.secure.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain."
            f"PlainLoginModule required{logins};",
            **{
                f"listener.name.secure.{mechanism.lower()}.sasl.jaas.config": "org.apache.kafka."
                "common.security.scram.ScramLoginModule required;"
                for mechanism in MECHANISMS
            },
            **self.settings,
        }

    def _format(self, command: Sequence[str]) -> None:
        users = [
            word
            for mechanism in MECHANISMS
            for user in USERS
            for word in ("--add-scram", f"{mechanism}=[name={user},password={PASSWORD}]")
        ]
        formats = [
            subprocess.Popen(
                [
                    *(*command, "kafka.tools.StorageTool", "format", "--cluster-id"),
                    *("AAAAAAAAAAAAAAAAAAAAAQ", "--config"),
                    *(str(node.folder / "server.properties"), *users),
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for node in self.nodes
        ]
        for one in formats:
            told, _ = one.communicate()
            if one.returncode:
                raise RuntimeError(f"the storage could not be formatted:\n{told[-3000:]}")


def _listeners(ports: dict[str, int]) -> str:
    # The certificate names localhost; aiokafka compares it with the advertised name.
    hosts = {"SECURE": "localhost", "MUTUAL": "localhost"}
    return ",".join(f"{name}://{hosts.get(name, LOOPBACK)}:{port}" for name, port in ports.items())
