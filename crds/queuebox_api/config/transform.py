"""The block `transform`, which a source, a route and a destination can hold (spec pages 24 and 32)."""

from typing import Annotated, Literal

from pydantic import Field

from queuebox_api.config.block import Block
from queuebox_api.config.fields import NOT_BLANK, Count, Millis


class Transform(Block):
    """A JSONata expression that reshapes a payload."""

    expression: Annotated[str, Field(max_length=32_768), NOT_BLANK]
    """The JSONata expression."""
    timeout_ms: Millis = 100
    """The longest run time of one evaluation."""
    max_depth: Count = 100
    """The deepest recursion of one evaluation."""
    on_error: Literal["Fail", "Skip", "Dead"] = "Fail"
    """What becomes of a message whose evaluation fails."""
