"""Changes of single settings of topics, which leave all others as they are.

aiokafka 0.14 knows only AlterConfigs, which sets what it does not name back to the default. This is
IncrementalAlterConfigs (KIP-339, Kafka 2.3), version 0.
"""

from collections.abc import Mapping

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResourceType
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Array, Boolean, Int8, Int16, Int32, Schema, String

API_KEY = 44
SET = 0
_TEXT = String("utf-8")


class _Answer(Response):  # type: ignore[misc]
    API_KEY = API_KEY
    API_VERSION = 0
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "resources",
            Array(
                ("error_code", Int16),
                ("error_message", _TEXT),
                ("resource_type", Int8),
                ("resource_name", _TEXT),
            ),
        ),
    )


class _Alteration(RequestStruct):  # type: ignore[misc]
    API_KEY = API_KEY
    API_VERSION = 0
    RESPONSE_TYPE = _Answer
    SCHEMA = Schema(
        (
            "resources",
            Array(
                ("resource_type", Int8),
                ("resource_name", _TEXT),
                ("configs", Array(("name", _TEXT), ("operation", Int8), ("value", _TEXT))),
            ),
        ),
        ("validate_only", Boolean),
    )


class _AlterationRequest(Request[_Alteration]):  # type: ignore[misc]
    API_KEY = API_KEY

    def __init__(self, changes: Mapping[str, Mapping[str, str]]) -> None:
        self._resources = [
            (ConfigResourceType.TOPIC, name, [(key, SET, value) for key, value in wanted.items()])
            for name, wanted in changes.items()
        ]

    def build(self, request_struct_class: type[_Alteration]) -> _Alteration:
        return request_struct_class(self._resources, False)


async def alter_topics(
    admin: AIOKafkaAdminClient, changes: Mapping[str, Mapping[str, str]]
) -> None:
    """Give each topic, by its name on the broker, these settings, and leave its others."""
    answer = await admin._send_request(_AlterationRequest(changes))
    for code, message, _, name in answer.resources:
        if code:
            why = message or for_code(code).__name__
            raise KafkaError(f"the broker refuses to alter topic {name}: {why}")
