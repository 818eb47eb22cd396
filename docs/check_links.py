"""Check every link of the built site without a network: `python docs/check_links.py docs/_build/html`.

Pages and anchors must exist, a name that was meant as a link must have become one, and nothing that a page
needs (scripts, styles, fonts, pictures) may come from elsewhere.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """The links, the anchors and the names without a link of one page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {"", "top"}
        self.unresolved: list[str] = []
        self._inside_link = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a":
            self._inside_link += 1
            if "href" in found:
                self.links.append(found["href"])
        if tag == "link" and "stylesheet" in found.get("rel", ""):
            self.loaded.append(found["href"])
        self.loaded += [found[name] for kind, name in LOADED if kind == tag and name in found]
        if tag == "code" and re.search(r"\bxref py\b", found.get("class", "")) and not self._inside_link:
            self.unresolved.append(str(self.getpos()))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._inside_link -= 1


def problems(site: Path) -> list[str]:
    """A line for everything that is wrong."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name}: a name at line, column {place} leads nowhere" for place in page.unresolved]
        for link in page.loaded:
            if urlsplit(link).netloc:
                found.append(f"{name}: {link} is loaded from elsewhere")
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.exists():
                found.append(f"{name}: {link} does not exist")
            elif goal in pages and unquote(parts.fragment) not in pages[goal].anchors:
                found.append(f"{name}: {link} has no such anchor")
    for style in sorted(site.rglob("*.css")):
        for link in re.findall(r"(?:url\(|@import )['\"]?(https?://[^'\")]+)", style.read_text()):
            found.append(f"{style.relative_to(site)}: {link} is loaded from elsewhere")
    return found


def main() -> None:
    """Prints the problems; the exit code says whether there are any."""
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "all links lead somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
