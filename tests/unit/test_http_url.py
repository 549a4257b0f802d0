import pytest

from queuebox_agent.broker.http.url import endpoint


@pytest.mark.parametrize(
    ("base_url", "path", "url"),
    [
        ("https://h", "/events", "https://h/events"),
        ("https://h/", "/events", "https://h/events"),
        ("https://h", "events", "https://h/events"),
        ("https://h/api/", "/events", "https://h/api/events"),
        ("https://h//api//", "//v1//events", "https://h/api/v1/events"),
        ("https://h:8443/api", "/events", "https://h:8443/api/events"),
        ("http://[::1]:8080/api", "/events", "http://[::1]:8080/api/events"),
    ],
)
def test_the_path_follows_the_base_url_with_one_slash_between(base_url: str, path: str, url: str) -> None:
    assert str(endpoint(base_url, path)) == url


def test_a_trailing_slash_of_the_path_stays() -> None:
    assert str(endpoint("https://h/api", "/events/")) == "https://h/api/events/"


@pytest.mark.parametrize("base_url", ["https://h", "https://h/", "https://h/hooks/7", "https://h/hooks/7/"])
def test_a_path_without_a_segment_leaves_the_base_url_as_it_is(base_url: str) -> None:
    assert str(endpoint(base_url, "/")) == base_url


@pytest.mark.parametrize("path", ["/events?source=q&at=/x/", "events?source=q&at=/x/"])
def test_a_query_of_the_path_stays(path: str) -> None:
    assert str(endpoint("https://h/api", path)) == "https://h/api/events?source=q&at=/x/"


def test_what_is_encoded_stays_encoded_and_the_rest_is_encoded() -> None:
    assert str(endpoint("https://h/a%2Fb", "/%C3%BC/ö")) == "https://h/a%2Fb/%C3%BC/%C3%B6"
