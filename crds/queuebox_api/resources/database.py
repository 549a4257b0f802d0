"""`spec.database`: a URL, or a Secret as the operators for PostgreSQL make it."""

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Final, NamedTuple

from pydantic import Field

from queuebox_api.config.block import Block, Rule, Rules, not_both
from queuebox_api.config.database import DatabaseConfig
from queuebox_api.config.fields import NOT_BLANK
from queuebox_api.config.urls import carries_password
from queuebox_api.resources.cel import told_elsewhere, unchanged
from queuebox_api.resources.derive import Fields, fields_of, made, rules_of, secret_key
from queuebox_api.resources.fields import NO_PLACEHOLDER, ObjectName

ZALANDO: Final = ".credentials.postgresql.acid.zalan.do"
CRUNCHY: Final = "-pguser-"

KeysOf = Callable[[str], Collection[str] | None]
"""The names of the keys of a Secret; None when they are not known."""


class Read(NamedTuple):
    """A value that stands in the Secret, by its key."""

    key: str


class DatabaseSecret(Block):
    """A Secret that an operator for PostgreSQL made for a user of its database."""

    name: ObjectName
    """The name: `<cluster>-app` (CloudNativePG), `<cluster>-pguser-<user>` (Crunchy), or
    `<user>.<cluster>.credentials.postgresql.acid.zalan.do` (Zalando)."""
    database: Annotated[str, Field(max_length=63), NOT_BLANK, NO_PLACEHOLDER] | None = None
    """The database, where the Secret does not name it (Zalando). Default: the name of the user."""


def connection(reference: Mapping[str, object], url: str | None, keys: Collection[str] | None) -> dict[str, str | Read]:
    """The keys of the configuration that a Secret gives, and what stands in it at which key.

    Next to a `url`, a Secret gives the user and the password. Alone, it gives a whole URL, or its name tells the rest.
    """
    name = str(reference.get("name"))
    if url is None and ("uri" in keys if keys is not None else not name.endswith(ZALANDO)):
        return {"url": Read("uri")}
    crunchy = "username" not in keys and "user" in keys if keys is not None else CRUNCHY in name
    place = url or _service(name, reference.get("database"))
    user: dict[str, str | Read] = {"username": Read("user" if crunchy else "username"), "password": Read("password")}
    return {"url": place, **user} if place else user


def _service(name: str, database: object) -> str | None:
    """The URL of the cluster that the name of a Secret tells; None when it tells none."""
    user, _, cluster = name.removesuffix(ZALANDO).rpartition(".")
    if not (name.endswith(ZALANDO) and user):
        return None
    return f"postgresql://{cluster}:5432/{database or user.rpartition('.')[2]}"


_STARTS: Final = (
    "!has(self.url) || (self.type == 'sqlserver' ? self.url.startsWith('jdbc:sqlserver://') "
    "{} self.url.matches('^(jdbc:postgresql|postgresql|postgres)://'))"
)
_USER: Final = r"self.url.matches('[?&]user=') || self.url.lowerAscii().matches(';\\s*user(name)?\\s*=')"
_RULES: Final[Rules] = (
    Rule(
        "has(self.url) || has(self.urlSecretRef) || has(self.secretRef)",
        "set one of secretRef, url and urlSecretRef",
        lambda it: bool(it.url or it.url_secret_ref or it.secret_ref),
    ),
    not_both("url", "urlSecretRef"),
    not_both("secretRef", "urlSecretRef"),
    not_both("secretRef", "username"),
    not_both("secretRef", "passwordSecretRef"),
    Rule(
        _STARTS.format(":"),
        "must start with jdbc:postgresql:// or postgresql://, or with jdbc:sqlserver:// when type is sqlserver",
        told_elsewhere,
        ("url",),
    ),
    Rule(
        "!has(self.url) || self.type != 'postgresql' || !self.url.split('?')[0].matches('[&=]')",
        "is ambiguous: the parameters follow a ?, and & and = in the name of the database are %26 and %3D",
        told_elsewhere,
        ("url",),
    ),
    Rule(
        r"!has(self.url) || !self.url.lowerAscii().matches('[?&;]\\s*(password|pwd)\\s*=')",
        "must not hold a password: use passwordSecretRef",
        lambda it: it.url is None or not carries_password(it.url),
        ("url",),
    ),
    Rule(
        f"!has(self.url) || has(self.secretRef) || has(self.username) || {_USER}",
        "is required, unless the URL names the user",
        told_elsewhere,
        ("username",),
    ),
    Rule(
        "!has(self.url) || has(self.secretRef) || has(self.passwordSecretRef)",
        "is required with url",
        told_elsewhere,
        ("passwordSecretRef",),
    ),
    Rule(
        "!has(self.secretRef) || has(self.url) || self.type == 'postgresql'",
        "is required with a secretRef and type sqlserver",
        lambda it: it.secret_ref is None or it.url is not None or it.type == "postgresql",
        ("url",),
    ),
    *map(unchanged, ("type", "outboxTableName", "inboxTableName")),
)


def _fields() -> Fields:
    text = (
        "A Secret that an operator for PostgreSQL made: all that is needed to connect. Next to url it gives the user "
        "name and the password only."
    )
    secret = Field(default=None, alias="secretRef", description=text)
    return {"secret_ref": (DatabaseSecret | None, secret), **fields_of(DatabaseConfig)}


def _of_url(rule: object) -> bool:
    """The rule that one of the two forms of a URL is set: here there are three."""
    return isinstance(rule, Rule) and f"has(self.{secret_key('url')})" in rule.cel


DatabaseSpec: Final = made(
    "DatabaseSpec",
    DatabaseConfig.__doc__,
    _fields(),
    (*_RULES, *(rule for rule in rules_of(DatabaseConfig) if not _of_url(rule))),
)
