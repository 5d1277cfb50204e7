"""Looks at the pages of a built site: links that lead nowhere, and what a page would load from a network."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["wrong"]

_LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
_ABOUT = {"canonical", "author", "license"}  # links that browsers do not follow


class _Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.targets |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get("rel") not in _ABOUT:
            self.loaded += [given[name] for element, name in _LOADED if element == tag and given.get(name)]


def wrong(folder: Path) -> list[str]:
    """One line for each link to a file or place that is not there, and for each thing that comes from a network."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        page, name = _read(path), path.relative_to(folder).as_posix()
        found += [f"{name} loads {url}" for url in page.loaded
                  if urlsplit(url).scheme not in ("", "data") or urlsplit(url).netloc]
        for url in (*page.links, *page.loaded):
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{name}: no file {url}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _read(target).targets:
                found.append(f"{name}: no place {url}")
    _read.cache_clear()
    return found


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
