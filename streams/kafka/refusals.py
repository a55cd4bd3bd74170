"""What a broker refuses a user, in a line that names the right."""

from collections.abc import Iterable

from aiokafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnsupportedSaslMechanismError,
    for_code,
)
from aiokafka.protocol.coordination import FindCoordinatorRequest
from aiokafka.protocol.fetch import FetchRequest

from ..settings import Settings
from .clients import open_admin

# No repetition mends these.
RIGHTS_ERRORS = (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)
GRANT = "`safepassage doctor --acls` prints the rights of each role"


async def check_rights(settings: Settings, topics: Iterable[str], groups: Iterable[str]) -> None:
    """See that this user may Read ``topics`` and ``groups``, by their names on the broker, before
    a model is loaded for them. Nothing but a record tells whether it may Write."""
    async with open_admin(settings) as admin:
        for group in groups:
            answer = await admin._send_request(FindCoordinatorRequest(group, 0))
            if for_code(answer.error_code) is GroupAuthorizationFailedError:
                raise GroupAuthorizationFailedError(group)
        # Rights come first: also a broker that does not lead the partition answers.
        partitions = [(topic, [(0, 0, 1)]) for topic in topics]
        fetched = await admin._send_request(FetchRequest(0, 0, 1, 0, partitions))
        refused = [
            topic
            for topic, (answer, *_) in fetched.topics
            if for_code(answer[1]) is TopicAuthorizationFailedError
        ]
        if refused:
            raise TopicAuthorizationFailedError(refused)


def refused_write(topic: str, error: KafkaError) -> str:
    """A produced record that this user may not write."""
    if isinstance(error, ClusterAuthorizationFailedError):
        return f"topic {topic}: {refusal(error)}"
    return f"topic {topic}: this user may not Write it; {GRANT}"


def refusal(error: BaseException) -> str | None:
    """What the broker refuses this user, and what to do, where ``error`` says so of a login, a
    read, a group or the cluster; None for any other error."""
    match error:
        case SaslAuthenticationFailed():
            return (
                "the broker refuses the login: check SAFEPASSAGE_KAFKA_USERNAME, _PASSWORD and "
                "_SASL_MECHANISM"
            )
        case UnsupportedSaslMechanismError():
            return "the broker does not take this SAFEPASSAGE_KAFKA_SASL_MECHANISM"
        case ClusterAuthorizationFailedError():
            # Of the cluster itself only an idempotent producer asks what needs a right.
            return (
                f"this user may Write to no topic; {GRANT}. Brokers before 2.8 want "
                "IdempotentWrite to the cluster beside it, or SAFEPASSAGE_KAFKA_IDEMPOTENCE=false"
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
