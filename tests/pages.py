"""The pages that people read, and what stands in them: examples, command lines, links."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parent.parent
SITE = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_generated" not in path.parts)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
LINKED = [*PAGES, *sorted(ROOT.glob("weights/**/README.md")), *sorted(ROOT.glob("results/**/*.md"))]


def fences(page: Path) -> list[tuple[str, int, str]]:
    """(language, line, text) of every fenced block; directives of the site have a language in braces."""
    found = re.finditer(r"^```(\S*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    text = page.read_text()
    return [(match[1], text[: match.start(2)].count("\n"), match[2]) for match in found]


def examples(page: Path) -> list[tuple[int, str]]:
    """(line, source) of every Python example."""
    return [(line, text) for language, line, text in fences(page) if language == "python"]


def command_lines(page: Path) -> list[list[str]]:
    """The words of every command in a block without language, and of every inline command with flags."""
    found = []
    for language, _, text in fences(page):
        if language == "":
            found += re.sub(r"\\\n\s*", " ", text).splitlines()
    found += re.findall(r"`((?:saz|python) [^`\n]*--[^`\n]*)`", page.read_text())
    words = [shlex.split(line.rpartition("| ")[2], comments=True) for line in found]
    return [line for line in map(_without_settings, words) if line]


def _without_settings(words: list[str]) -> list[str]:
    """A command without variables and `srun` in front of it."""
    while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "srun"):
        words = words[1:]
    return words


def links(page: Path) -> list[str]:
    """The addresses of links and pictures, without anchors."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)", text)
