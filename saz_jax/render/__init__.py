"""Positions as text and pictures, games as SGF, results as tables and figures."""

from saz_jax.render import sgf, svg, text
from saz_jax.render.figures import markdown_table, outcome_text, training_curve

__all__ = ["markdown_table", "outcome_text", "sgf", "svg", "text", "training_curve"]
