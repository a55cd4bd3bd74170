"""Addresses of the internet: e-mail, URL and IP, each normalised as a whole token."""

import ipaddress
import re
from itertools import islice
from typing import Literal, NamedTuple

from ..contract import Place

AddressForm = Literal["email", "url", "ip"]

_LONGEST = 2_048
_MOST = 64
_EDGES = "\"'<>()[]{},;!?.:*“”„»«"
_TOKEN = re.compile(r"[^\s<>\"'“”„«»,;]+")
_EMAIL = re.compile(
    r"(?:mailto:)?([\w.!#$%&*+/=?^`{|}~-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})", re.I
)
_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,16}://|www\.)\S+|(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?:[:/?#]\S*)?", re.I
)
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]{1,16}://)?(?:www\.)?", re.I)
_IPV4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_IPV6 = re.compile(r"[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*", re.I)


class Address(NamedTuple):
    """``key``: the address without scheme, ``www.``, capitals of the host and last slash."""

    form: AddressForm
    key: str
    place: Place


def address_of(value: str, *, url: bool) -> Address | None:
    """The address that a whole value is. ``url``: the type asks for one, so that a bare host name
    ("example.com") is one; without it a host needs a scheme, ``www.`` or a path."""
    bare = value.strip().strip(_EDGES)
    if not bare or len(bare) > _LONGEST or any(map(str.isspace, bare)):
        return None
    found = _address(bare, Place(0, len(bare)))
    if found and found.form == "url" and not url and not re.search(r"://|^www\.|/", bare):
        return None
    return found


def addresses(text: str) -> list[Address]:
    """The first 64 addresses of a text, in order, bare host names among them."""
    return list(islice(filter(None, map(_address_at, _TOKEN.finditer(text))), _MOST))


def _address_at(match: re.Match[str]) -> Address | None:
    token = match[0][:_LONGEST]
    if "." not in token and ":" not in token:
        return None
    bare = token.strip(_EDGES)
    start = match.start() + len(token) - len(token.lstrip(_EDGES))
    return _address(bare, Place(start, start + len(bare)))


def _address(token: str, place: Place) -> Address | None:
    email = _EMAIL.fullmatch(token)
    if email:
        return Address("email", email[1].casefold(), place)
    if _IPV4.fullmatch(token) or _IPV6.fullmatch(token):
        try:
            return Address("ip", ipaddress.ip_address(token).compressed, place)
        except ValueError:
            return None
    if _URL.fullmatch(token):
        return Address("url", _url(token), place)
    return None


def _url(token: str) -> str:
    rest = _SCHEME.sub("", token, count=1)
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return (host.casefold() + rest[len(host) :]).rstrip("/")


def is_part(key: str, whole: str) -> bool:
    """Whether an address is only the host or the first part of the path of another."""
    return whole.startswith(key) and whole[len(key) : len(key) + 1] in {"/", "?", "#", ":"}
