"""A person who logged in, and the role that the groups of the login give."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from safepassage.schemas import ReviewerLogin

from ...settings import Role, Settings
from ..session import reviewer_name


class LoginRefused(Exception):
    """Nobody came in. The message is for the person who tried; it quotes nothing that came in."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who came in: the name that decisions are published under, how it is known, and the role."""

    reviewer: str
    login: ReviewerLogin
    role: Role


def role_of(groups: Collection[str], settings: Settings) -> Role:
    """The highest role that ``groups`` give, else the least. Raises `LoginRefused` where readers
    are named by group, and none of ``groups`` gives any role."""
    if not set(settings.console_lead_groups).isdisjoint(groups):
        return "lead"
    if not set(settings.console_reviewer_groups).isdisjoint(groups):
        return "reviewer"
    readers = set(settings.console_reader_groups)
    if readers and readers.isdisjoint(groups):
        raise LoginRefused("Your groups give you no role here. Ask for one.")
    return "reader"


def display_name(given: object, subject: str) -> str:
    """The name to publish: what the login gives, else the subject. Raises `LoginRefused` where
    neither can be read as a name."""
    for text in (given, subject):
        if isinstance(text, str) and (name := reviewer_name(text)):
            return name
    raise LoginRefused("The login gives no name that can be shown: up to 60 characters.")


def claim_at(claims: Mapping[str, object], path: str) -> object:
    """The claim ``path``, else what its parts lead to, as in ``realm_access.roles``."""
    if path in claims:
        return claims[path]
    found: object = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def groups_in(claim: object) -> frozenset[str]:
    """The groups that a claim lists. A text is one group. Anything else gives no group."""
    listed = [claim] if isinstance(claim, str) else claim
    if not isinstance(listed, list | tuple):
        return frozenset()
    return frozenset(group for group in listed if isinstance(group, str) and group)
