"""JSON values in the frame of a Schema Registry's clients: a zero byte, the schema's number, JSON.

Written where SCHEMA_REGISTRY_URL is set, and read everywhere: JSON never begins with a zero byte. A
topic's schema is registered as ``TOPIC-value`` when this process first writes to it. Sealed values
are no JSON and stay as they are. So do the topics that say what was erased: every reader of them
would need the registry's frame to obey.
"""

import asyncio
import base64
import json
import urllib.error
import urllib.request

from ..runtime.errors import OperatorError
from ..sealing.frame import is_sealed
from ..settings import Settings
from ..topics import ERASURES, KEYS, Topic

_MAGIC = b"\0"
_FRAME_BYTES = 5
PATIENCE_SECONDS = 30.0
_NUMBERS: dict[tuple[str, str], int] = {}
"""Of the schemas that this process registered, by registry and topic."""


class RegistryRefuses(OperatorError):
    """The Schema Registry cannot be asked, or does not take a schema."""


async def framed(value: bytes, topic: Topic, settings: Settings) -> bytes:
    """``value`` of a record for ``topic``, framed where a registry is named."""
    url = settings.schema_registry_url
    if url is None or topic in (ERASURES, KEYS) or is_sealed(value):
        return value
    known = url, settings.topic(topic.name)
    if known not in _NUMBERS:
        _NUMBERS[known] = await asyncio.to_thread(_registered, topic, url, settings)
    return _MAGIC + _NUMBERS[known].to_bytes(4, "big") + value


def unframed(value: bytes) -> bytes:
    """The JSON of ``value``, with or without a frame."""
    return value[_FRAME_BYTES:] if value.startswith(_MAGIC) and not is_sealed(value) else value


def _registered(topic: Topic, url: str, settings: Settings) -> int:
    subject = f"{settings.topic(topic.name)}-value"
    schema = {"schemaType": "JSON", "schema": json.dumps(topic.model.model_json_schema())}
    headers = {"content-type": "application/vnd.schemaregistry.v1+json"}
    if login := settings.schema_registry_basic_auth_user_info:
        text = base64.b64encode(login.get_secret_value().encode()).decode()
        headers["authorization"] = f"Basic {text}"
    address = f"{url.rstrip('/')}/subjects/{subject}/versions"
    asked = urllib.request.Request(address, json.dumps(schema).encode(), headers)  # noqa: S310
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
            number = json.loads(answer.read())["id"]
    except urllib.error.HTTPError as error:
        error.close()
        why = "it is not compatible with the one there" if error.code == 409 else f"{error.code}"
        raise RegistryRefuses(
            f"the Schema Registry does not take the schema {subject}: {why}; change the subject's "
            "compatibility, or unset SCHEMA_REGISTRY_URL"
        ) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise RegistryRefuses(
            f"the Schema Registry at SCHEMA_REGISTRY_URL gives no number for {subject}: "
            f"{type(error).__name__}"
        ) from error
    if not isinstance(number, int) or not 0 <= number < 2**32:
        raise RegistryRefuses(f"the Schema Registry gives no number for {subject}")
    return number
