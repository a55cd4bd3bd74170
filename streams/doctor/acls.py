"""The commands that give each role's principal the rights it needs, and no others."""

import shlex
from collections.abc import Iterator, Sequence

from safepassage.streams.privacy.places import OF_DOCUMENTS
from safepassage.streams.settings import Settings
from safepassage.streams.topics import (
    ACCEPTED,
    ACCESS,
    ALIGNMENTS,
    CLAIMS,
    DEAD_LETTERS,
    DECISIONS,
    DOCUMENT_VALUES,
    DOCUMENTS,
    ERASURES,
    EXTRACTIONS,
    KEYS,
    MEMORIES,
    QUARANTINE,
    READ_BY,
    REDRIVABLE,
    REDRIVES,
    REPORTS,
    RESPONSES,
    REVIEWS,
    SCORERS,
    SHADOW,
    WITH_REPORT,
    Access,
    RoleName,
)

# Commands that people run beside the roles, each perhaps with a principal of its own.
OF_COMMANDS: dict[str, Access] = {
    "submit": Access(reads=(REPORTS, DEAD_LETTERS, ERASURES, KEYS), writes=(DOCUMENTS, RESPONSES)),
    "release": Access(
        reads=(SCORERS, SHADOW, ACCEPTED, QUARANTINE, REVIEWS, ERASURES, KEYS),
        writes=(SCORERS,),
    ),
    "dead-letters": Access(
        reads=(
            *(*REDRIVABLE, DEAD_LETTERS, REDRIVES, REPORTS, ACCEPTED, QUARANTINE),
            *(ERASURES, KEYS),
        ),
        writes=(*REDRIVABLE, REDRIVES),
    ),
    "replay": Access(
        reads=(
            *(ALIGNMENTS, EXTRACTIONS, CLAIMS, DOCUMENTS, RESPONSES),
            *(ACCEPTED, QUARANTINE, REVIEWS, DECISIONS, MEMORIES),
            *(ERASURES, KEYS),
        )
    ),
    # It reads the topics of replays as well, and makes the topic of the keys.
    "erase": Access(
        reads=(*OF_DOCUMENTS, ERASURES, KEYS, SCORERS),
        writes=(ERASURES, KEYS, DECISIONS, MEMORIES, DOCUMENT_VALUES),
    ),
}

# Roles with as many workers as there is work; `deploy/kubernetes/components/keda` scales them.
SCALED: tuple[RoleName, ...] = ("extract", "align", "score")


def acl_commands(settings: Settings) -> Iterator[str]:
    """Lines of a shell script for Kafka's own ``kafka-acls.sh``, comments included."""
    yield "# ADMIN.properties logs in as one who may change ACLs; name users as yours are."
    yield "# Brokers before 2.8 also want --operation IdempotentWrite --cluster for whoever writes."
    for role, access in ACCESS.items():
        yield from _of(role, access, settings, f"the role {role}")
    for role in WITH_REPORT:
        whose = f"the role report, which runs {role} too unless it is started with --alone"
        yield from _of("report", ACCESS[role], settings, whose)
    for command, access in OF_COMMANDS.items():
        yield from _of(command, access, settings, f"who runs `safepassage {command}`")
    yield from _of_replays(settings)
    yield from _of_setup(settings)
    yield from _of_scaler(settings)


def _of(name: str, access: Access, settings: Settings, whose: str) -> Iterator[str]:
    yield f"\n# {whose}"
    reads = [settings.topic(topic.name) for topic in access.reads]
    writes = [settings.topic(topic.name) for topic in access.writes]
    groups = [settings.group(group) for group in access.groups]
    yield _command(settings, name, ("Read",), "--topic", reads)
    if writes:
        yield _command(settings, name, ("Write",), "--topic", writes)
    if groups:
        yield _command(settings, name, ("Read",), "--group", groups)
    both = list(dict.fromkeys((*reads, *writes)))
    # Reading and writing imply Describe; this one only lets it compare their configuration.
    yield _command(settings, name, ("DescribeConfigs",), "--topic", both)


def _of_replays(settings: Settings) -> Iterator[str]:
    yield _command(
        settings,
        "erase",
        ("Read", "DescribeConfigs"),
        "--topic",
        [settings.topic("replay-")],
        pattern="--resource-pattern-type prefixed",
    )
    yield "# replays create topics of their own and write nowhere else"
    yield _command(
        settings,
        "replay",
        ("Create", "Read", "Write", "DescribeConfigs"),
        "--topic",
        [settings.topic("replay-")],
        pattern="--resource-pattern-type prefixed",
    )


def _of_setup(settings: Settings) -> Iterator[str]:
    yield "\n# who runs `safepassage doctor --create-topics`"
    operations = ("Create", "Describe", "DescribeConfigs", "Read")
    prefixed = "--resource-pattern-type prefixed" if settings.topic_prefix else ""
    name = settings.topic_prefix or "*"
    yield _command(settings, "setup", operations, "--topic", [name], pattern=prefixed)
    yield "# and `safepassage doctor --alter-topics --apply`: it may shorten what is kept as well"
    yield _command(settings, "setup", ("AlterConfigs",), "--topic", [name], pattern=prefixed)


def _of_scaler(settings: Settings) -> Iterator[str]:
    yield "\n# what scales roles by lag: it may read no record"
    accesses = [ACCESS[role] for role in SCALED]
    topics = [settings.topic(topic.name) for role in SCALED for topic in READ_BY[role]]
    groups = [settings.group(group) for access in accesses for group in access.groups]
    yield _command(settings, "scaler", ("Describe",), "--topic", topics)
    yield _command(settings, "scaler", ("Describe",), "--group", groups)


def _command(
    settings: Settings,
    name: str,
    operations: Sequence[str],
    kind: str,
    resources: Sequence[str],
    *,
    pattern: str = "",
) -> str:
    parts = [
        "kafka-acls.sh --bootstrap-server",
        shlex.quote(settings.kafka_bootstrap_servers),
        "--command-config ADMIN.properties --add --allow-principal",
        shlex.quote(f"User:{settings.group_prefix}-{name}"),
        *(f"--operation {operation}" for operation in operations),
        *(f"{kind} {shlex.quote(resource)}" for resource in resources),
        pattern,
    ]
    return " ".join(part for part in parts if part)
