"""README and site: examples run, command lines parse, links lead somewhere, generated pages are complete."""

import argparse
import contextlib
import dataclasses
import functools
import importlib.util
import io
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import tyro

from saz_jax.cli import faces, main
from saz_jax.games.registry import option_types
from saz_jax.training.presets import PresetName
from tests.built_in import NAMES
from tests.pages import LINKED, PAGES, ROOT, command_lines, examples, links

WITH_EXAMPLES = [page for page in PAGES if examples(page)]
WITH_COMMANDS = [page for page in PAGES if command_lines(page)]
OTHERS = {"python3", "pip", "git", "sudo", "sbatch"}
"""Programs of others in our pages."""


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@functools.cache
def outcomes() -> dict[str, str | None]:
    """What became of the examples of every page; one process, since importing jax takes longer than most."""
    runner = [sys.executable, "-m", "tests.page_runner", *map(str, WITH_EXAMPLES)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(runner, cwd=ROOT, env=environment, capture_output=True, text=True)
    told = dict(json.loads(line) for line in run.stdout.splitlines())
    assert len(told) == len(WITH_EXAMPLES), run.stderr
    return told


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=short)
def test_the_examples_of_a_page_run_in_their_order(page):
    assert outcomes()[str(page)] is None, outcomes()[str(page)]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=short)
def test_the_lines_of_an_example_fit_the_page(page):
    assert [line for _, text in examples(page) for line in text.splitlines() if len(line) > 92] == []


def test_the_readme_and_every_kind_of_page_have_examples():
    names = {short(page) for page in WITH_EXAMPLES}
    assert "README.md" in names
    for folder in ("tutorials", "how-to", "explanation", "reference"):
        assert any(name.startswith(f"docs/{folder}/") for name in names)


class Parsed(Exception):
    """A command got past its arguments."""


def stopping(parse):
    """A parser that ends the command once it has parsed."""

    def parsed(*args, **kwargs):
        parse(*args, **kwargs)
        raise Parsed

    return parsed


def parse(words: list[str], monkeypatch) -> str:
    """Runs a command up to the point where its arguments are known; what is wrong with them, or ""."""
    told = io.StringIO()
    monkeypatch.setattr(tyro, "cli", stopping(tyro.cli))
    monkeypatch.setattr(faces, "parse", stopping(faces.parse))
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stopping(argparse.ArgumentParser.parse_args))
    monkeypatch.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told), contextlib.suppress(Parsed):
            if words[0] == "saz":
                main.main(words[1:])
            else:
                monkeypatch.setattr(sys, "argv", words[1:])
                monkeypatch.syspath_prepend(str((ROOT / words[1]).parent))
                runpy.run_path(str(ROOT / words[1]), run_name="__main__")
    except SystemExit as end:
        return f"{' '.join(words)}: {told.getvalue()}" if end.code else ""
    return ""


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=short)
def test_every_command_line_of_a_page_parses(page, monkeypatch):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for words in command_lines(page):
        program, *rest = words
        if program == "make":
            assert {word for word in rest if "=" not in word} <= set(targets), words
        elif program == "saz" or (program == "python" and rest[0].endswith(".py")):
            with monkeypatch.context() as patches:
                if "rows:make" in words:
                    patches.syspath_prepend(str(ROOT / "tests" / "user_files"))
                assert not parse(usual_parts(words), patches)
        elif program == "python":
            assert importlib.util.find_spec(rest[1]), words
        else:
            assert program in OTHERS or program.startswith((".ci/", ".venv/")), words


def usual_parts(words: list[str]) -> list[str]:
    """A command with parts that the reader is to write replaced by ours of the same kind."""
    theirs = {"linear": "gin", "geometric": "mean"}
    return [theirs.get(word, word) for word in words]


@pytest.mark.parametrize(
    "line",
    [
        "saz train --game othello --model nobody",
        "saz play --gaem",
        "saz evaluate --game go --nonsense 3",
        "python experiments/ship.py --nonsense",
    ],
)
def test_a_wrong_command_line_is_noticed(line, monkeypatch):
    assert parse(line.split(), monkeypatch)


@pytest.mark.parametrize("page", LINKED, ids=short)
def test_links_between_pages_lead_somewhere(page):
    for address in links(page):
        if not re.match(r"[a-z]+:", address) and "_generated" not in address:
            assert (page.parent / address).exists(), address


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_pages_name_files_that_exist(page):
    paths = re.findall(r"`((?:saz_jax|experiments|benchmarks|tests|notebooks)/[\w/.]*)`", page.read_text())
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/results/index.md"])
def test_the_results_that_a_page_begins_with_are_those_of_the_files(page):
    rows = re.findall(r"^\| (\w+) (\d+)x\2 \| .* \| (\d+) of (\d+)", (ROOT / page).read_text(), re.MULTILINE)
    assert len(rows) == 6
    for game, side, won, games in rows:
        stored = json.loads((ROOT / "results" / "strength" / f"{game.lower()}-greedy.json").read_text())
        result = stored["sizes"][side]
        assert (int(won), int(games)) == (result["wins"], len(result["runs"]) * stored["config"]["games"])


def test_every_game_has_its_options_and_its_score_on_the_page_of_games():
    page = (ROOT / "docs" / "reference" / "games.md").read_text()
    scores = page.partition("## What greedy looks at")[2]
    for name in NAMES:
        assert f"\n| {name.capitalize()} |" in scores
        for option, (_, default) in option_types(name).items():
            assert re.search(rf"\| {name.capitalize()} \| `{option}` \| ", page), option
            assert default is None or re.search(rf"`{option}` \| `?{default}`? \|", page), option


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_every_page_of_the_site_is_reached_from_its_index():
    listed = set()
    for page in PAGES:
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    site = {page for page in PAGES if page.parent != ROOT and page.name != "index.md"}
    assert site - listed == set()


@pytest.fixture(scope="module")
def generated(tmp_path_factory) -> Path:
    """The pages that are made of the code, with what a build writes."""
    folder = tmp_path_factory.mktemp("site") / "docs" / "_generated"
    script = f"import generate, pathlib; generate.write_all(pathlib.Path({str(folder)!r}))"
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'docs'}"}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    return folder


@pytest.mark.slow
def test_settings_and_commands_are_all_there(generated):
    settings = (generated / "settings.md").read_text()
    for name in ("search.simulations", "learner.batch_size", "network.edges", "selfplay.games", "sizes"):
        assert f"| `{name}` |" in settings
    assert f"| setting | meaning | {' | '.join(get_args(PresetName)[::-1])} |" in settings
    assert "| 100 |" in settings.replace("`", "")  # the paper's simulations
    commands = (generated / "command_line.md").read_text()
    for name in main.COMMANDS:
        text = commands.partition(f"## saz {name}\n")[2].partition("\n## ")[0]
        assert "usage:" in text, name


def test_the_pictures_of_the_graph_are_those_that_the_code_draws(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    figures = importlib.import_module("figures")
    for name in ("graph", "padding", "subgraphs", "typed_edges"):
        assert (ROOT / "docs" / "images" / f"{name}.svg").read_text() == figures.FIGURES[name](), name


def test_every_picture_of_the_pages_has_a_maker(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    figures = importlib.import_module("figures")
    shown = {Path(address).stem for page in PAGES for address in links(page) if "images/" in address}
    assert shown - {"web"} <= set(figures.FIGURES)


def test_the_reference_shows_records_by_the_names_of_their_fields(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    plain = importlib.import_module("plain_docstrings")
    assert plain.record_signature("class", Record) == "(name, size=9, options=...)"
    assert plain.record_signature("class", Path) is None
    assert plain.record_signature("function", Record) is None
    generated, written = ["Alias for field number 0"], ["int32[]: how `many`"]
    plain.to_rst(generated)
    plain.to_rst(written)
    assert (generated, written) == ([], ["int32[]: how ``many``", ""])


@dataclasses.dataclass
class Record:
    """Something with a name."""

    name: str
    size: int = 9
    options: dict[str, int] = dataclasses.field(default_factory=dict)
