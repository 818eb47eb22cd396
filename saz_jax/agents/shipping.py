"""Trained weights as the repository ships them: the agent, and everything about how it was trained.

A folder `weights/NAME` holds `agent.npz` with what its run left behind: `config.json` (settings, seed,
command, versions, hardware), `metrics.csv` (the training log) and `curve.png`.  `agent.safetensors` holds the
same weights for other programs.  `weights/README.md` and `weights/SHA256SUMS` are made from these folders and
from nothing else.
"""

import hashlib
import itertools
import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saz_jax.agents.agent import EXPORT, Agent, load_agent
from saz_jax.render.figures import markdown_table, outcome_names
from saz_jax.storage.metrics import read_metrics
from saz_jax.storage.named_arrays import flatten
from saz_jax.storage.results import write_json

FILES = (EXPORT, "config.json", "metrics.jsonl", "metrics.csv", "curve.png")
"""Files copied from a training workdir."""
TENSORS = "agent.safetensors"
MEASURED = "measured"
"""Where config.json keeps the last outcomes of the training, which an installed package has no log of."""
CHECKSUMS = "SHA256SUMS"
PAGE = "README.md"


def ship(workdir: Path, folder: Path) -> None:
    """Copies what the run in `workdir` ended with to `folder`; `ValueError` if a part of it is missing."""
    load_agent(workdir)
    for name in FILES:
        if not (workdir / name).is_file():
            raise ValueError(f"{workdir} has no {name}; let the run come to its end, with evaluations")
    if folder.exists():
        raise ValueError(f"{folder} is there already; choose another name, or remove it first")
    folder.mkdir(parents=True)
    for name in FILES:
        shutil.copyfile(workdir / name, folder / name)


def checksums(weights: Path) -> str:
    """The text of SHA256SUMS: a line for every file of weights, as `sha256sum --check` reads it."""
    agents = sorted(path for name in (EXPORT, TENSORS) for path in weights.glob(f"*/{name}"))
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(weights).as_posix()}\n"
        for path in agents
    )


def page(weights: Path) -> str:
    """The text of the page about all folders of weights."""
    rows, commands = [], []
    for path in sorted(weights.glob(f"*/{EXPORT}")):
        agent, name = load_agent(path), path.parent.name
        facts = facts_of(path.parent)
        last = read_metrics(path.parent)[-1]
        rows.append([f"[`{name}`]({name}/{PAGE})", *_row(agent, facts, last)])
        commands.append(f"- `{name}`: `{command(weights, name, agent, facts)}`\n")
    header = ["name", "game", "model", "trained on sides", "parameters", "seed", "minutes", "positions"]
    header += ["hardware"]
    return (
        "# Trained players\n\n"
        'Load one by its name, `saz_jax.load_agent("othello")`, or name it on a command line, '
        "`python experiments/evaluate.py --game othello --player othello`. Each folder holds the agent, the "
        "settings, the log and the curve of its training, and a card that tells how strong it is; "
        "[results](../results/README.md) has all matches.\n\n"
        f"{markdown_table(header, rows)}\n"
        f"The commands that train them again, with the same settings:\n\n{''.join(commands)}\n"
        "This page and `SHA256SUMS` are written by `python experiments/ship.py`.\n"
    )


def facts_of(folder: Path) -> dict[str, Any]:
    """What config.json in a folder of weights tells: settings, command, versions, hardware, date."""
    return json.loads((folder / "config.json").read_text())


def command(weights: Path, name: str, agent: Agent, facts: Mapping[str, Any]) -> str:
    """The command that repeats the training of `name`: the settings from its file, the limits of its run."""
    words = ["python", "experiments/train.py", "--config", f"{weights.name}/{name}/config.json"]
    origin = facts.get("origins", {}).get("game", "")
    if origin and not origin.startswith("saz_jax."):
        words += ["--game", origin]
    words += _taken_over(facts.get("command", ""), "--init-from")
    limits = _taken_over(agent.meta.get("command", ""), "--minutes", "--iterations")
    words += limits or ["--iterations", str(agent.meta["iteration"])]
    return shlex.join([*words, "--workdir", f"runs/{name}"])


def _taken_over(command: str, *flags: str) -> list[str]:
    """These flags of a command, with their values."""
    words = [part for word in shlex.split(command) for part in word.split("=", 1)]
    pairs = itertools.pairwise(words)
    return [word for flag, value in pairs if flag in flags for word in (flag, value)]


def _row(agent: Any, facts: dict[str, Any], last: dict[str, Any]) -> list[str]:
    """One agent's cells after its name."""
    parameters = sum(array.size for array in flatten(agent.variables["params"]).values())
    hardware, before = facts["hardware"], agent.meta.get("before", {})
    return [
        agent.game_name,
        agent.model.name,
        ", ".join(map(str, agent.trained_sizes)),
        f"{parameters:,}",
        str(facts["config"]["seed"]),
        f"{(last['seconds'] + before.get('seconds', 0)) / 60:.0f}",
        f"{last['positions'] + before.get('positions', 0):,}",
        f"{hardware['processor']}, {hardware['cores']} cores, {hardware['backend']}",
    ]


def write_pages(weights: Path) -> None:
    """Brings the page, the checksums and what is made of each agent up to date."""
    for path in sorted(weights.glob(f"*/{EXPORT}")):
        load_agent(path).export(path.with_name(TENSORS))
        evaluated = [row for row in read_metrics(path.parent) if outcome_names(row)]
        if evaluated:
            last = {name: evaluated[-1][name] for name in outcome_names(evaluated[-1])}
            write_json(path.parent / "config.json", {**facts_of(path.parent), MEASURED: last})
    (weights / PAGE).write_text(page(weights))
    (weights / CHECKSUMS).write_text(checksums(weights))
