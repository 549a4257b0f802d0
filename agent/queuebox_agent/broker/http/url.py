from yarl import URL


def endpoint(base_url: str, path: str) -> URL:
    """Return `base_url` followed by `path` (spec page 11). A doubled or a missing slash between segments does no harm;
    a slash at the end of `path` stays. A `path` without a segment leaves the base URL as it is.
    """
    base = URL(base_url)
    where, question, query = path.partition("?")
    segments = _segments(where)
    if not segments:
        return URL(f"{base}{question}{query}")
    end = "/" if where.endswith("/") else ""
    joined = "/".join([*_segments(base.raw_path), *segments])
    return URL(f"{base.origin()}/{joined}{end}{question}{query}")


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]
