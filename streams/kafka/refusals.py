"""What a broker refuses a user, in a line that names the right."""

from __future__ import annotations

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

# No repetition mends these.
RIGHTS_ERRORS = (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)
GRANT = "`safepassage doctor --acls` prints the rights of each role"


def refused_write(topic: str, error: KafkaError) -> str:
    """A produced record that this user may not write."""
    if isinstance(error, ClusterAuthorizationFailedError):
        return f"topic {topic}: {missing_right(error)}"
    return f"topic {topic}: this user may not Write it; {GRANT}"


def missing_right(error: BaseException) -> str | None:
    """The right that a user lacks where ``error`` says so of a read, a group or the cluster; None
    for any other error."""
    match error:
        case ClusterAuthorizationFailedError():
            # Of what a worker asks of the cluster itself, only this needs a right.
            return (
                "this user may not IdempotentWrite to the cluster; grant it, or set "
                "SAFEPASSAGE_KAFKA_IDEMPOTENCE=false"
            )
        case GroupAuthorizationFailedError():
            return f"group {_named(error)}: this user may not Read it; {GRANT}"
        case TopicAuthorizationFailedError():
            return f"topic {_named(error)}: this user may not Read or Describe it; {GRANT}"
        case _:
            return None


def _named(error: KafkaError) -> str:
    """What aiokafka names: one, several, or nothing."""
    given = error.args[0] if error.args else "(not named by the client)"
    return given if isinstance(given, str) else ", ".join(sorted(map(str, given)))
