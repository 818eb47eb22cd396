"""The names that other people's scripts call: the complete list, and that our own pages use no others."""

import ast
import functools
import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import saz_jax
from tests.pages import PAGES

ROOT = Path(__file__).parent.parent
OPTIONAL = (
    "choix",
    "IPython",
    "matplotlib",
    "pgx",
    "safetensors",
    "sgfmill",
    "tensorboardX",
    "tyro",
    "wandb",
)
PUBLIC = {
    "saz_jax": """
        Agent EvaluateFn Evaluation Game GameState Model Network Observation Player SGFFormat
        SearchFn SearchOutput __version__ agents arena check_game cli config games graphs
        greedy_player load_agent make_game models networks play play_match random_player register_game
        register_model register_network register_prior register_search render search sgf shapes
        storage studies svg text training
    """,
    "saz_jax.agents": """
        Agent greedy_player load_agent random_player ship shipped_agents write_pages
    """,
    "saz_jax.arena": """
        MatchConfig MatchResult Records TournamentConfig average_outcome match play_match
        random_openings series standard_error tournament wilson_interval
    """,
    "saz_jax.arena.series": """
        MatchConfig Reporter Series play prepare
    """,
    "saz_jax.arena.tournament": """
        Tournament TournamentConfig play plot prepare ratings
    """,
    "saz_jax.cli": """
        enable_compilation_cache
    """,
    "saz_jax.config": """
        CNNConfig EvaluationConfig FCNConfig Features GINConfig LearnerConfig ModelConfig
        SearchConfig SelfPlayConfig SubgraphConfig TrainConfig difference from_json to_json
    """,
    "saz_jax.games": """
        BrokenPromise check_game live_points live_side make_game not_square point random_move
        register_game shapes shift symmetry unless_over_or_illegal where_states
    """,
    "saz_jax.games.shapes": """
        Boards cross diamond draw_boards from_text holes make_boards random_holes rectangle ring to_text
    """,
    "saz_jax.graphs": """
        from_graphs_tuple live_nodes observe register_prior sample_subgraphs scatter_max
        scatter_mean to_graphs_tuple topology
    """,
    "saz_jax.models": """
        make_model register_model sliding_window subgraph_ensemble whole_board
    """,
    "saz_jax.networks": """
        GraphNetwork Output make_cnn make_fcn make_gin make_graph_gin make_network register_network
    """,
    "saz_jax.play": """
        Analysis Clock Limits Session Setup
    """,
    "saz_jax.render": """
        markdown_table outcome_text sgf svg text training_curve
    """,
    "saz_jax.render.sgf": """
        Record from_sgf to_sgf
    """,
    "saz_jax.render.svg": """
        Picture parse render
    """,
    "saz_jax.render.text": """
        draw move_name parse parse_move show
    """,
    "saz_jax.search": """
        NONE ROOT Strategy Tree make_rollout_evaluate make_search make_tree_search mctx_qtransform
        mctx_recurrent mctx_root register_search rollout_player search_with
    """,
    "saz_jax.storage": """
        Metrics ResultsFile read_export read_json read_metrics write_json
    """,
    "saz_jax.studies": """
        BUDGETS Budget Lab REPORTS Report STUDIES Study run_study write_page write_section
    """,
    "saz_jax.training": """
        preset run stored_config
    """,
}
"""Every public module and its names: a change of the interface is a change of this list."""
PACKAGES = sorted(f"saz_jax.{path.parent.name}" for path in (ROOT / "saz_jax").glob("*/__init__.py"))
SCRIPTS = [path for path in sorted((ROOT / "notebooks").rglob("*.py")) if path.name != "build.py"]


def reachable(module: ModuleType = saz_jax) -> dict[str, ModuleType]:
    """All modules that the names in `__all__` lead to, by name."""
    found = {module.__name__: module}
    for name in module.__all__:
        if isinstance(value := getattr(module, name), ModuleType):
            found |= reachable(value)
    return found


def test_the_public_names_are_those_of_the_list():
    assert {name: sorted(module.__all__) for name, module in reachable().items()} == {
        name: sorted(words.split()) for name, words in PUBLIC.items()
    }


def kind_and_name(name: str) -> tuple[bool, bool, str]:
    """Constants first, then classes, then the rest, as ruff sorts them."""
    return not name.isupper(), not name[0].isupper(), name


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_exist_sorted_and_listed_once(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert list(module.__all__) == sorted(set(module.__all__), key=kind_and_name)
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", PACKAGES)
def test_every_package_has_public_names(name):
    assert name in PUBLIC


def test_a_public_name_stands_for_one_class_in_the_whole_package():
    sources = "\n".join(path.read_text() for path in (ROOT / "saz_jax").rglob("*.py"))
    defined = Counter(
        re.findall(r"^(?:class )?([A-Z]\w*)(?:\(.*\)|: TypeAlias = .*)?:?$", sources, re.MULTILINE)
    )
    public = {name for words in PUBLIC.values() for name in words.split()}
    assert [name for name in public if defined[name] > 1] == []


def test_the_core_dependencies_are_enough_to_import_the_package_and_play():
    script = f"""
import sys
for name in {OPTIONAL}:
    sys.modules[name] = None          # importing it raises ImportError
import saz_jax
for name in saz_jax.__all__:
    getattr(saz_jax, name)
saz_jax.make_game("othello", max_size=8).init(6)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_the_package_does_not_import_what_only_training_needs():
    script = "import sys, saz_jax; assert not {'orbax', 'optax', 'tyro', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def private_names(source: str) -> list[str]:
    """Dotted names under `saz_jax` that a script uses although no `__all__` leads to them."""
    tree, bound, found = ast.parse(source), dict[str, str](), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == "saz_jax":
                    bound[alias.asname or "saz_jax"] = alias.name if alias.asname else "saz_jax"
                    found.append(alias.name)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "saz_jax":
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                found.append(f"{node.module}.{alias.name}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            words = ast.unparse(node).split(".")
            if words[0] in bound:
                found.append(".".join([bound[words[0]], *words[1:]]))
    return [name for name in found if not is_public(name)]


@functools.cache
def is_public(name: str) -> bool:
    """Whether `__all__` leads from `saz_jax` to what `name` stands for, or to a class that it belongs to."""
    _, *words = name.split(".")
    value = saz_jax
    for word in words:
        if not isinstance(value, ModuleType):
            break
        if word not in value.__all__:
            return False
        value = getattr(value, word)
    return True


def python_of(page: Path) -> str:
    """The Python examples of a page, one after the other."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_the_notebooks_use_public_names_only(script):
    assert private_names(script.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_pages_use_public_names_only(page):
    assert private_names(python_of(page)) == []
    mentioned = re.findall(r"\bsaz_jax(?:\.[A-Za-z_]\w*)+", page.read_text())
    assert [name for name in mentioned if not is_public(name) and name != "saz_jax.plugins"] == []


@pytest.mark.parametrize(
    "source",
    [
        "import saz_jax.training.loop",
        "import saz_jax\nsaz_jax.training.loop.run()",
        "from saz_jax.games import board",
        "from saz_jax.agents.agent import Agent",
        "from saz_jax import arena as a\na.lanes",
    ],
)
def test_a_private_name_is_found(source):
    assert private_names(source)
