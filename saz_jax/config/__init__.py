"""Settings: frozen dataclasses, the registries of what their names stand for, their JSON form and versions.

Nothing here imports jax.
"""

from saz_jax.config.json_form import difference, from_json, to_json
from saz_jax.config.settings import (
    CNNConfig,
    EvaluationConfig,
    FCNConfig,
    Features,
    GINConfig,
    LearnerConfig,
    ModelConfig,
    SearchConfig,
    SelfPlayConfig,
    SubgraphConfig,
    TrainConfig,
)

__all__ = [
    "CNNConfig",
    "EvaluationConfig",
    "FCNConfig",
    "Features",
    "GINConfig",
    "LearnerConfig",
    "ModelConfig",
    "SearchConfig",
    "SelfPlayConfig",
    "SubgraphConfig",
    "TrainConfig",
    "difference",
    "from_json",
    "to_json",
]
