"""Files, variables, placeholders and `file:` references → `queuebox_api.config`."""

from queuebox_agent.settings.load import DEFAULT_PATH, load

__all__ = ["DEFAULT_PATH", "load"]
