"""List the players that come with the package, or those in other places.

saz agents
saz agents runs/gomoku --json
"""

import argparse
import json
from pathlib import Path
from typing import Any


def main(argv: list[str]) -> None:
    """Prints one line for each agent."""
    parser = argparse.ArgumentParser(
        prog="saz agents", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", help="exports or workdirs; default: what is shipped")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(argv)

    from saz_jax.agents import shipped_agents

    found = {str(path): Path(path) for path in arguments.paths} or shipped_agents()
    rows = [facts(name, path) for name, path in found.items()]
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    columns = ("name", "game", "model", "trained on", "KB", "minutes", "strength")
    cells = [columns, *(tuple(str(row[column]) for column in columns) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def facts(name: str, path: Path) -> dict[str, Any]:
    """What is told about one agent; its strength is what its training measured last."""
    from saz_jax.agents import load_agent
    from saz_jax.agents.agent import EXPORT
    from saz_jax.agents.shipping import MEASURED, facts_of
    from saz_jax.cli.console import plain_errors
    from saz_jax.render.figures import outcome_names
    from saz_jax.storage import read_metrics

    with plain_errors():
        agent = load_agent(path)
        file = path / EXPORT if path.is_dir() else path
        rows = [row for row in read_metrics(file.parent) if outcome_names(row)]
        # An installed package holds no logs: what a log ended with stands beside the settings.
        settings = file.parent / "config.json"
        stored = facts_of(file.parent).get(MEASURED, {}) if settings.exists() else {}
    last = {name: rows[-1][name] for name in outcome_names(rows[-1])} if rows else stored
    told = [f"{name.replace('_', ' ')}: {outcome:.2f}" for name, outcome in last.items()]
    return {
        "name": name,
        "game": agent.game_name,
        "model": agent.model.name,
        "trained on": " ".join(map(str, agent.trained_sizes)),
        "KB": file.stat().st_size // 1024 if file.is_file() else 0,
        "minutes": round(agent.meta.get("seconds", 0) / 60),
        "strength": ", ".join(told) or "unknown",
    }
