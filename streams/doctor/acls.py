"""The commands that give each role's principal the rights it needs, and no others."""

import shlex
from collections.abc import Iterator, Sequence

from ..settings import Settings
from ..topics import ACCESS, OF_COMMANDS, READ_BY, WITH_REPORT, Access, RoleName

# Roles with as many workers as there is work; `deploy/kubernetes/components/keda` scales them.
SCALED: tuple[RoleName, ...] = ("extract", "align", "score")

PREFIXED = "--resource-pattern-type prefixed"
# What is granted under a name that no command has.
COMMANDS = {"release": "`safepassage promote`, `safepassage rollback` or `safepassage shadow`"}


def acl_commands(settings: Settings) -> Iterator[str]:
    """Lines of a shell script for Kafka's own ``kafka-acls.sh``, comments included."""
    yield "# ADMIN.properties logs in as one who may change ACLs; name users as yours are."
    yield "# Brokers before 2.8 also want --operation IdempotentWrite --cluster for every writer."
    for role, access in ACCESS.items():
        yield from _of(role, access, settings, f"the role {role}")
    for role in WITH_REPORT:
        whose = f"the role report, which runs {role} too unless it is started with --alone"
        yield from _of("report", ACCESS[role], settings, whose)
    for command, access in OF_COMMANDS.items():
        whose = COMMANDS.get(command, f"`safepassage {command}`")
        yield from _of(command, access, settings, f"who runs {whose}")
    replays = [settings.topic("replay-")]
    reads = ("Read", "DescribeConfigs")
    yield _command(settings, "erase", reads, "--topic", replays, pattern=PREFIXED)
    yield "# replays create topics of their own and write nowhere else"
    rights = ("Create", "Read", "Write", "DescribeConfigs")
    yield _command(settings, "replay", rights, "--topic", replays, pattern=PREFIXED)

    yield "\n# who runs `safepassage doctor --create-topics`"
    rights = ("Create", "Describe", "DescribeConfigs", "Read")
    prefixed = PREFIXED if settings.topic_prefix else ""
    every = [settings.topic_prefix or "*"]
    yield _command(settings, "setup", rights, "--topic", every, pattern=prefixed)
    group = [settings.group("")]
    yield _command(settings, "setup", ("Describe",), "--group", group, pattern=PREFIXED)
    yield "# and `safepassage doctor --alter-topics --apply`: it may shorten what is kept as well"
    yield _command(settings, "setup", ("AlterConfigs",), "--topic", every, pattern=prefixed)

    yield "\n# what scales roles by lag: it may read no record"
    topics = [settings.topic(topic.name) for role in SCALED for topic in READ_BY[role]]
    groups = [settings.group(group) for role in SCALED for group in ACCESS[role].groups]
    yield _command(settings, "scaler", ("Describe",), "--topic", topics)
    yield _command(settings, "scaler", ("Describe",), "--group", groups)


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
