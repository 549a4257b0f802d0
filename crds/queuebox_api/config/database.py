"""The section `database` (spec pages 16, 23 and 24)."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from queuebox_api.config.block import Block, Check, Finding, Rule, Rules, member
from queuebox_api.config.columns import ColumnMapping, InboxColumns, OutboxColumns
from queuebox_api.config.fields import IN_FILE, Count, Flag, Identifier, Millis, Name
from queuebox_api.config.secret import Secret, SecretUrl
from queuebox_api.config.urls import ambiguity, carries_password, is_database_url, names_user
from queuebox_api.names import Path

BUNDLED_NAMES: dict[Path, str] = {("outboxTableName",): "outbox", ("inboxTableName",): "inbox"} | {
    ("columnMapping", table, str(field.alias)): str(field.default)
    for table, columns in (("outbox", OutboxColumns), ("inbox", InboxColumns))
    for field in columns.model_fields.values()
}
"""Each key that renames a table or a column, and the name that the bundled migrations create."""


def _is_bundled_name(key: Path, name: str) -> Rule:
    return Rule(
        f"!self.migrate || {'.'.join((member(str(key[0])), *map(str, key[1:])))} == '{name}'",
        "is a custom name, and the bundled migrations create the default names only: set database.migrate to false and "
        "apply your own schema, or leave this key out",
        lambda it: not it.migrate or _value(it, key) == name,
        at=key,
    )


def renamed(database: "DatabaseConfig") -> list[Path]:
    """Each key, below `database`, that gives a table or a column another name than the bundled migrations do."""
    return [key for key, name in BUNDLED_NAMES.items() if _value(database, key) != name]


def _value(block: Block, key: Path) -> object:
    value: object = block
    for level in key:
        names = (name for name, field in type(value).model_fields.items() if field.alias == level)  # type: ignore[attr-defined]  # every level is a block
        value = getattr(value, next(names))
    return value


def _url_is_sound(database: "DatabaseConfig") -> Iterator[Finding]:
    if not is_database_url(database.url.get_secret_value(), database.type):
        starts = {"postgresql": "jdbc:postgresql:// or postgresql://", "sqlserver": "jdbc:sqlserver://"}
        yield Finding(("url",), f"must start with {starts[database.type]}, because database.type is {database.type}")
    elif database.type == "postgresql" and (problem := ambiguity(database.url.get_secret_value())):
        yield Finding(("url",), problem)


def _somebody_connects(database: "DatabaseConfig") -> Iterator[Finding]:
    if database.username is None and not names_user(_url_of(database)):
        yield Finding(("username",), "is required, unless the URL names the user")


def _somebody_may(database: "DatabaseConfig") -> Iterator[Finding]:
    if database.password is None and not carries_password(_url_of(database)):
        yield Finding(("password",), "is required, unless the URL carries a password")


def _url_of(database: "DatabaseConfig") -> str:
    """Without a URL nobody is named, so that all that is missing is reported at once."""
    return database.url.get_secret_value() if hasattr(database, "url") else ""


class DatabaseConfig(Block):
    """The database that holds the outbox and the inbox."""

    rules: ClassVar[Rules] = (
        Check(_url_is_sound),
        Check(_somebody_connects),
        Check(_somebody_may),
        Rule(
            "self.outboxTableName != self.inboxTableName",
            "must differ from outboxTableName",
            lambda it: it.outbox_table_name != it.inbox_table_name,
            at=("inboxTableName",),
        ),
        *(_is_bundled_name(key, name) for key, name in BUNDLED_NAMES.items()),
    )
    type: Literal["postgresql", "sqlserver"] = "postgresql"
    """The product. It must match the start of `url`."""
    url: SecretUrl
    """Where the database is: `jdbc:postgresql://`, `postgresql://` or `jdbc:sqlserver://`."""
    username: Annotated[Name, IN_FILE] | None = None
    """The database user. Required, unless `url` names one."""
    password: Secret | None = None
    """The password of the user. Required, unless `url` carries one."""
    pool_size: Count = 10
    """The largest number of connections that the agent keeps."""
    connection_timeout_ms: Millis = 30_000
    """The longest wait for a connection from the pool."""
    startup_timeout_ms: Millis = 60_000
    """How long the start tries to reach the database before the process ends."""
    migrate: Flag = True
    """Apply the bundled migrations at start. Set it to `false` when you rename a table or a column."""
    outbox_table_name: Identifier = "outbox"
    """The name of the outbox table."""
    inbox_table_name: Identifier = "inbox"
    """The name of the inbox table."""
    column_mapping: ColumnMapping = ColumnMapping()
    """Column names of your own."""
