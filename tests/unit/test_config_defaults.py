"""Every key of page 24, with its default, is in the models, and the models have no other."""

import pytest

import queuebox_api.config
from queuebox_api.config import Block
from services.configs import config, rows

TABLE = rows("configuration-defaults.tsv")


def in_words(model: type[Block], key: str) -> str:
    field = next(field for field in model.model_fields.values() if field.alias == key)
    if (key, model.__name__) in {("username", "DatabaseConfig"), ("password", "DatabaseConfig")}:
        return "required"  # page 24; ours may also stand in the URL, which test_config_database shows
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    words = {"True": "true", "False": "false", "None": "none", "": "empty", "{}": "empty", "()": "empty"}
    return words.get(str(default), str(default))


def models() -> dict[str, type[Block]]:
    found = {name: getattr(queuebox_api.config, name) for name in queuebox_api.config.__all__}
    return {
        name: it for name, it in found.items() if isinstance(it, type) and issubclass(it, Block) and it is not Block
    }


@pytest.mark.parametrize(("model", "key", "default"), TABLE)
def test_a_key_has_the_default_of_page_24(model: str, key: str, default: str) -> None:
    assert in_words(models()[model], key) == default


def test_the_models_have_no_key_that_page_24_lacks() -> None:
    listed = {(model, key) for model, key, _ in TABLE}
    values = {
        (name, str(field.alias))
        for name, model in models().items()
        for field in model.model_fields.values()
        if not isinstance(field.default, Block)  # the key of a section
    }
    sections = {("Config", key) for key in ("database", "destinations", "routes", "sources")}
    assert values - sections == listed


def test_every_key_says_what_it_means() -> None:
    silent = [
        f"{name}.{key}"
        for name, model in models().items()
        for key, f in model.model_fields.items()
        if not f.description
    ]
    assert silent == []


def test_the_three_database_keys_are_enough() -> None:
    assert config().server.http_port == 8080


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        config().server.http_port = 1  # type: ignore[misc]  # what must not work
