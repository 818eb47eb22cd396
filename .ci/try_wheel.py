"""Try an installed wheel: `python -P .ci/try_wheel.py core`, or the name of an extra.

With `--extras pyproject.toml` it lists the extras to try. It needs nothing but the installed package.
"""

import importlib
import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

NOT_HERE = ("cuda", "tpu", "all", "test", "dev", "docs")
"""Accelerators, and what only a clone can use."""
IMPORTS = {
    "plots": ["matplotlib"],
    "sgf": ["sgfmill"],
    "ratings": ["choix"],
    "tensorboard": ["tensorboardX", "tensorboard"],
    "wandb": ["wandb"],
    "notebooks": ["matplotlib", "sgfmill", "tyro", "IPython", "jupytext"],
    "safetensors": ["safetensors"],
    "web": ["saz_jax.cli.web", "saz_jax.play.web.server", "sgfmill"],
}
COMMANDS = {
    "cli": [
        "agents",
        "train --game othello --preset smoke --iterations 1 --evaluation.games 0",
        "evaluate --game othello --player greedy --opponent random --sizes 6 --games 4 --runs 1",
        "play --game othello --size 6 --agent greedy --lines",
    ],
}


def extras(project: Path) -> list[str]:
    """The extras that can be tried on any machine."""
    listed = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    return [name for name in listed if name not in NOT_HERE]


def play() -> None:
    """Every shipped player is there, and one finds a legal move on a board that it never saw."""
    import jax

    import saz_jax

    home = Path(saz_jax.__file__).parent
    assert "site-packages" in home.parts, home
    assert saz_jax.__version__ == importlib.metadata.version("saz_jax")
    assert (home / "py.typed").exists()
    names = saz_jax.agents.shipped_agents()
    assert {"othello", "gomoku", "go"} <= set(names), names
    for name, path in names.items():
        assert sorted(file.name for file in path.parent.iterdir()) == ["agent.npz", "config.json"], name
    agent = saz_jax.load_agent("othello")
    game = agent.game(12)
    state = game.init(12)
    action = agent.player(game, simulations=4)(jax.random.key(0), state)
    assert bool(state.legal[action])


def main(what: str) -> None:
    """Play, then use what the extra brings."""
    version = ".".join(map(str, sys.version_info[:3]))
    play()
    saz = str(Path(sys.executable).with_name("saz"))
    subprocess.run([saz, "--version"], check=True, capture_output=True)
    if what == "core":
        refused = subprocess.run([saz, "train", "--help"], capture_output=True, text=True)
        assert refused.returncode == 2, refused
        assert "pip install 'saz_jax[cli]'" in refused.stderr, refused.stderr
    for name in IMPORTS.get(what, ()):
        importlib.import_module(name)
    for command in COMMANDS.get(what, ()):
        run = subprocess.run([saz, *command.split()], input="", capture_output=True, text=True)
        assert run.returncode == 0, (command, run.stdout, run.stderr)
    print(f"Python {version}, {what}: works")


if __name__ == "__main__":
    if sys.argv[1] == "--extras":
        print(*extras(Path(sys.argv[2])))
    else:
        main(sys.argv[1])
