"""The four families of error. The edge that knows decides the family; the core only matches on it."""


class QueueBoxError(Exception):
    """What QueueBox raises on purpose. The text is for a person and holds no secret."""


class Retryable(QueueBoxError):
    """This try failed and a later one may succeed. `after`: seconds that the peer asked to wait, if it did."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Rejected(QueueBoxError):
    """This message will never be accepted as it is: another try is of no use."""


class Unavailable(QueueBoxError):
    """The peer cannot be reached: nothing is known against the message itself."""


class Misconfigured(QueueBoxError):
    """A person must change something before this can work. `problems`: one line each, at least one."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
