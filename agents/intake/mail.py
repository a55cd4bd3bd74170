"""E-mail: its heads and body as one text, each attachment a file of its own."""

import email
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart

from .file_documents import Omitted
from .html import read_html
from .limits import Limits, Refused

_HEADS = ("From", "To", "Cc", "Subject", "Date")
_MAX_HEAD = 2_000
_MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside an e-mail. ``number`` counts all parts of the e-mail, from 1."""

    number: int
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Mail:
    """An e-mail: what a mail program shows of it, and its attachments."""

    text: str
    attachments: tuple[Attachment, ...]
    omitted: Omitted


def read_mail(raw: bytes, limits: Limits) -> Mail:
    """The e-mail, with the body that a mail program shows: of two versions the HTML. Raises
    `Refused` where it has no heads, more parts than ``limits`` allow, or is damaged."""
    message = _parsed(raw)
    omitted = Omitted()
    attachments = tuple(_attachments(message, limits))
    try:
        heads = ((name, " ".join(str(message[name]).split())) for name in _HEADS if message[name])
        lines = [f"{name}: {said[:_MAX_HEAD]}" for name, said in heads]
        body = message.get_body(("html", "plain"))
        text = _body(body, limits, omitted) if body is not None else ""
    except (MessageError, LookupError, ValueError) as error:
        raise Refused("is damaged: no e-mail can be read") from error
    if attachments:
        lines.append("Attachments: " + ", ".join(found.name for found in attachments))
    return Mail("\n".join(lines) + "\n\n" + text, attachments, omitted)


def attachment(raw: bytes, part: tuple[int, ...], limits: Limits) -> tuple[str, bytes]:
    """Name and content of the attachment that the numbers ``part`` lead to. Raises `Refused` where
    it is missing, or it lies deeper than ``limits`` allow."""
    name = ""
    if len(part) > limits.depth:
        raise Refused("is nested too deep")
    for number in part:
        found = [a for a in _attachments(_parsed(raw), limits) if a.number == number]
        if not found:
            raise Refused("has no such attachment")
        name, raw = found[0].name, found[0].content
    return name, raw


def _parsed(raw: bytes) -> EmailMessage:
    try:
        message = email.message_from_bytes(raw, policy=email.policy.default)
    except (MessageError, LookupError, ValueError, RecursionError) as error:
        raise Refused("is damaged: no e-mail can be read") from error
    if not isinstance(message, EmailMessage) or not any(message[name] for name in _HEADS):
        raise Refused("is no e-mail: it has neither sender nor subject")
    return message


def _attachments(message: EmailMessage, limits: Limits) -> Iterator[Attachment]:
    """The attachments in their order; pictures of the body are attachments too."""
    shown = {id(part) for kind in ("html", "plain") if (part := message.get_body((kind,)))}
    for number, part in enumerate(_parts(message), start=1):
        if number > limits.parts:
            raise Refused(f"has more than {limits.parts} parts")
        if id(part) in shown or part is message:
            continue
        content = _content(part)
        if content:
            yield Attachment(number, _name(part), content)


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The leaves; an e-mail inside the e-mail is one leaf."""
    if message.get_content_maintype() != "multipart":
        yield message
        return
    for part in message.iter_parts():
        if isinstance(part, EmailMessage):
            yield from _parts(part)


def _name(part: EmailMessage) -> str:
    """The attachment's own name; that of an e-mail says that it is one."""
    is_mail = part.get_content_type() == "message/rfc822"
    name = part.get_filename() or ("message" if is_mail else f"part.{part.get_content_subtype()}")
    name = re.sub(r"[\\/\s]+", "_", name)[-_MAX_NAME:]
    return f"{name}.eml" if is_mail and not name.lower().endswith(".eml") else name


def _content(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload(0)
        return inner.as_bytes() if isinstance(inner, EmailMessage) else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _body(part: MIMEPart, limits: Limits, omitted: Omitted) -> str:
    if part.get_content_type() == "text/html":
        text, hidden = read_html(str(part.get_content()).encode(), limits)
        omitted.update(hidden)
        return text
    return str(part.get_content()).replace("\r\n", "\n").strip("\n")
