"""Files: checkpoints, exported agents, metrics and results, each written whole or not at all."""

from saz_jax.storage.export import read_export
from saz_jax.storage.metrics import Metrics, read_metrics
from saz_jax.storage.results import ResultsFile, read_json, write_json

__all__ = ["Metrics", "ResultsFile", "read_export", "read_json", "read_metrics", "write_json"]
