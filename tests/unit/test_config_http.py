"""URLs, paths and headers of an HTTP destination (pages 11, 23 and 24)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queuebox_api.config import HttpDestination, OAuth2Auth
from services.configs import config, tree, wrong

AUTH = {"clientId": "x", "clientSecret": "x"}


def destination(**keys: object) -> HttpDestination:
    made = config(destinations={"x": {"baseUrl": "https://x", **keys}}).destinations["x"]
    assert isinstance(made, HttpDestination)
    return made


def found(**keys: object) -> dict[str, str]:
    return wrong(tree("destinations.x", {"baseUrl": "https://x", **keys}))


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com",
        "http://x",
        "HTTPS://x",
        "http://x:8080/base",
        "http://[::1]:80",
        "http://1.2.3.4",
        "http://ä.de",
    ],
)
def test_an_absolute_http_url_is_taken(url: str) -> None:
    assert destination(baseUrl=url).base_url == url


def test_a_base_url_is_trimmed() -> None:
    assert destination(baseUrl="  https://x\n").base_url == "https://x"


NO_URL = [
    "", " ", "x", "/x", "//x", "ftp://x", "https:/x", "https://", "https:///x", "http://:80", "http://x:99999", "http://x:0",
    "http://x:abc", "http://{host}", "http://ex%00ample", "http://h,i", "http://h;i", "http://h*",
    "http://[::1", "http://a b", "http://x/\n/y", "http://x\\@y", "file:///etc/passwd", "javascript://x",
]  # fmt: skip


@pytest.mark.parametrize("url", NO_URL)
def test_anything_else_is_refused_as_base_url_and_token_url(url: str) -> None:
    assert list(found(baseUrl=url)) == ["destinations.x.baseUrl"]
    assert list(found(auth={**AUTH, "tokenUrl": url})) == ["destinations.x.auth.tokenUrl"]


@pytest.mark.parametrize("userinfo", ["me:letmein@", "letmein@", ":letmein@", "@", "me:let%6Dein@"])
def test_a_url_with_a_user_is_refused_and_not_quoted(userinfo: str) -> None:
    texts = found(baseUrl=f"https://{userinfo}x", auth={**AUTH, "tokenUrl": f"https://{userinfo}x"})
    assert set(texts.values()) == {"must not hold a user name or a password; use auth"}


@pytest.mark.parametrize(
    "path", ["/.", "/..", "/a/../b", "/a/./b", "..", "/a/%2e%2e/b", "/%2E", "/a\\..\\b", "/..?q=1"]
)
def test_a_dot_segment_is_refused(path: str) -> None:
    assert found(path=path) == {"destinations.x.path": "must not hold a . or .. segment"}


@pytest.mark.parametrize("path", ["/a/../b", "/.", "/a/%2e%2e"])
def test_a_dot_segment_is_refused_in_a_url_too(path: str) -> None:
    assert found(baseUrl=f"https://x{path}") == {"destinations.x.baseUrl": "must not hold a . or .. segment"}


@pytest.mark.parametrize(
    ("given_path", "path"),
    [("/events", "/events"), ("events", "/events"), ("", "/"), ("/a.b/..c", "/a.b/..c"), ("/e?x=..", "/e?x=..")],
)
def test_a_path_starts_with_a_slash(given_path: str, path: str) -> None:
    assert destination(path=given_path).path == path


@pytest.mark.parametrize("path", ["/a b", "/a\nb", "/a#b"])
def test_a_path_has_no_spaces_and_no_fragment(path: str) -> None:
    assert found(path=path) == {"destinations.x.path": "must be a path without spaces or #"}


def test_a_query_belongs_into_the_path_but_may_stand_in_a_token_url() -> None:
    assert list(found(baseUrl="https://x?a=b")) == ["destinations.x.baseUrl"]
    assert list(found(baseUrl="https://x#a")) == ["destinations.x.baseUrl"]
    auth = destination(auth={**AUTH, "tokenUrl": "https://x/token?tenant=a"}).auth
    assert isinstance(auth, OAuth2Auth)
    assert auth.token_url == "https://x/token?tenant=a"


@pytest.mark.parametrize("name", ["", "a b", "a:b", "ä", "a\r\nb", "a\x00", "(x)"])
def test_a_header_name_is_a_token(name: str) -> None:
    (text,) = found(headers={name: "x"}).values()
    assert text.startswith("the name must be a header name")


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\x00b", "\r\nX: y"])
def test_a_header_value_is_one_line(value: str) -> None:
    text = "must not hold a line break or a NUL"
    assert found(headers={"X-Team": value}) == {"destinations.x.headers.X-Team": text}
    assert found(auth={"headerValue": value}) == {"destinations.x.auth.headerValue": text}


def test_a_header_is_set_once_in_any_letter_case() -> None:
    text = "is set twice, in another letter case"
    assert found(headers={"X-Team": "a", "x-team": "b"}) == {"destinations.x.headers.x-team": text}


@pytest.mark.parametrize(
    ("auth", "key"),
    [
        ({"type": "oauth2", **AUTH, "tokenUrl": "http://x", "clientId": " "}, "clientId"),
        ({"type": "oauth2", **AUTH, "tokenUrl": "http://x", "clientSecret": " "}, "clientSecret"),
        ({"type": "basic", "username": " ", "password": "x"}, "username"),
        ({"type": "header", "headerValue": " "}, "headerValue"),
        ({"type": "header", "headerValue": "x", "headerName": ""}, "headerName"),
    ],
)
def test_a_credential_is_not_blank(auth: dict[str, str], key: str) -> None:
    assert list(found(auth=auth)) == [f"destinations.x.auth.{key}"]


@pytest.mark.parametrize("key", ["exchange", "topic", "subject"])
@pytest.mark.parametrize(
    "template",
    [
        "literal",
        "{{ topic }}",
        "{{key}}",
        "a.{{ aggregateType }}.{{ payload.a.b }}{{data.x}}",
        "{a}",
        "a{",
        "{ {topic}}",
    ],
)
def test_an_address_template_takes_the_placeholders_of_page_24(key: str, template: str) -> None:
    assert wrong(tree("destinations.x", _with_address(key, template))) == {}


@pytest.mark.parametrize("key", ["exchange", "topic", "subject"])
@pytest.mark.parametrize(
    "template",
    ["{{ region }}", "{{ Topic }}", "{{ payload }}", "{{ payload. }}", "{{ topic", "{{}}", "{{ topic }} {{ x }}"],
)
def test_an_address_template_with_another_placeholder_stops_the_start(key: str, template: str) -> None:
    assert list(wrong(tree("destinations.x", _with_address(key, template)))) == [f"destinations.x.{key}"]


def _with_address(key: str, template: str) -> dict[str, str]:
    rest = {"exchange": {"url": "amqp://x"}, "topic": {"bootstrapServers": "x"}, "subject": {"servers": "nats://x"}}
    return rest[key] | {key: template}


@given(st.text(max_size=40))
def test_no_text_breaks_the_url_check(text: str) -> None:
    assert set(found(baseUrl=text, path="/")) <= {"destinations.x.baseUrl"}
