"""The jars of Apache Kafka, resolved once by Maven into a folder that git ignores."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

VERSION = os.environ.get("KAFKA_VERSION", "4.4.0")
FOLDER = Path(__file__).parents[2] / "var" / "kafka"
POM = Path(__file__).with_name("pom.xml")
OLDEST_JAVA = 17


class Missing(RuntimeError):
    """What Apache Kafka needs and this machine lacks, in words for whoever runs the tests."""


def java() -> str:
    """The Java that runs a broker.

    Raises:
        Missing: there is none, or it is too old.
    """
    found = shutil.which("java")
    if found is None:
        raise Missing(f"no `java` here; Apache Kafka needs Java {OLDEST_JAVA} or later")
    told = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    number = told.partition('"')[2].partition(".")[0].partition('"')[0]
    if not number.isdigit() or int(number) < OLDEST_JAVA:
        raise Missing(f"`java` is {number or 'unreadable'}; Kafka needs {OLDEST_JAVA} or later")
    return found


def jars(version: str = VERSION) -> Path:
    """The folder with the jars of ``version``, below KAFKA_JARS or ``var/kafka``.

    Raises:
        Missing: they are not there, and Maven is missing too or could not fetch them.
    """
    folder = Path(os.environ.get("KAFKA_JARS", FOLDER)) / version
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing(f"no `mvn` here; it fetches the jars of Apache Kafka into {folder}")
    fresh = folder.with_name(f".{version}-{os.getpid()}")
    command = [maven, "--batch-mode", "--quiet", "--strict-checksums", "-f", str(POM)]
    command += [f"-Dkafka.version={version}", f"-DoutputDirectory={fresh}"]
    ended = subprocess.run(
        [*command, "-DincludeScope=runtime", "dependency:copy-dependencies"],
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        shutil.rmtree(fresh, ignore_errors=True)
        raise Missing(f"Maven could not fetch Apache Kafka {version}:\n{ended.stdout[-2000:]}")
    if not folder.exists():  # nor did another process meanwhile
        fresh.rename(folder)
    return folder
