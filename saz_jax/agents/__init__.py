"""Trained agents and the reference opponents, and how agents are shipped."""

from saz_jax.agents.agent import Agent, load_agent, shipped_agents
from saz_jax.agents.players import greedy_player, random_player
from saz_jax.agents.shipping import ship, write_pages

__all__ = [
    "Agent",
    "greedy_player",
    "load_agent",
    "random_player",
    "ship",
    "shipped_agents",
    "write_pages",
]
