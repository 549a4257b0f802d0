"""What a call to the API server can come to, when it is not what was asked for."""


class ApiError(Exception):
    """The API server refused, or did not answer. The text never holds a body that was sent."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        """The HTTP status; 0 when there was no answer."""
        self.reason = reason


class NotFound(ApiError):
    """No such object, kind or namespace."""


class Conflict(ApiError):
    """Somebody else wrote first, or owns the field."""


class Gone(ApiError):
    """The version to go on from is too old: list again."""


class Forbidden(ApiError):
    """No permission, or not known who asks."""


class Invalid(ApiError):
    """The object breaks a rule, or is none that the server knows: it has to change."""


class Unavailable(ApiError):
    """No answer, or one that says to come again: nothing is known about whether a write took place."""


class NotLeader(Exception):
    """This process may not write now."""
