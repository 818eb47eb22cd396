"""Matches, series of matches, tournaments and ratings."""

from saz_jax.arena import series, tournament
from saz_jax.arena.lanes import Records
from saz_jax.arena.matches import MatchResult, match, play_match, random_openings
from saz_jax.arena.series import MatchConfig
from saz_jax.arena.statistics import average_outcome, standard_error, wilson_interval
from saz_jax.arena.tournament import TournamentConfig

__all__ = [
    "MatchConfig",
    "MatchResult",
    "Records",
    "TournamentConfig",
    "average_outcome",
    "match",
    "play_match",
    "random_openings",
    "series",
    "standard_error",
    "tournament",
    "wilson_interval",
]
