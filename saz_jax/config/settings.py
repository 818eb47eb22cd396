"""Every setting as a frozen dataclass with a docstring under each field; imports no jax.

The defaults of the network, subgraph and search settings are the paper's. Where the paper contradicts
itself or is silent, one `Literal` field holds the readings and says where each one stands.
"""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

GameName = Literal["othello", "gomoku", "go"]
ModelName = Literal["saz", "model1", "model2", "model3", "model4", "model5", "fcn"]
Features = Literal["stones", "stones_legal", "stones_legal_turn"]


@dataclasses.dataclass(frozen=True)
class GINConfig:
    """The graph network (Sec. 3.1, App. "Global setup")."""

    layers: int = 3
    """GIN layers."""
    hidden: int = 512
    """Width of the GIN layers."""
    head: int = 512
    """Width of the two fully-connected layers before the policy and value heads."""
    epsilon: Literal["learned", "fixed"] = "learned"
    """GIN's epsilon: a learned scalar per layer that starts at 0, or fixed at 0 (App. "GIN")."""
    edges: Literal["grid4", "grid8", "compass8"] = "grid4"
    """grid4: four neighbours, all alike (the paper); grid8: eight, all alike; compass8: eight, each
    compass direction a relation with its own weights."""
    dummy: Literal["sum", "mean", "max"] = "sum"
    """How messages into the dummy node are pooled: sum (the paper; grows with the board), mean (one stone
    weighs less on a larger board) or max (a pattern counts alike on every board)."""
    readout: Literal["mean", "dummy"] = "mean"
    """Where the value is read: the mean over all nodes (the paper; what one pattern says is diluted on a
    larger board), or the dummy node alone."""
    residual: bool = False
    """Add each GIN layer's input to its output where the widths agree."""
    norm: Literal["batch", "layer"] = "batch"
    """Normalisation of the fully-connected layers: masked batch norm (the paper) or layer norm."""
    dropout: float = 0.3
    """Dropout rate of the fully-connected layers while training."""
    features: Features = "stones"
    """Node features: own stone +1, other stone -1, empty 0 (the paper); or that and the legal moves; or these
    and whose turn it is, which decides the value where the colours are not alike (Go's komi)."""


@dataclasses.dataclass(frozen=True)
class CNNConfig:
    """AlphaZero's convolutional network for one board side (App. "CNN architecture")."""

    side: int = 8
    """The only board side that it reads."""
    channels: int = 512
    """Channels of the convolutions: two with padding, then two without."""
    dense: tuple[int, int] = (1024, 512)
    """Widths of the two fully-connected layers."""
    dropout: float = 0.3
    """Dropout rate of the fully-connected layers while training."""
    features: Features = "stones"
    """Input planes: own stone +1, other stone -1, empty 0; or that and the legal moves; or these and whose
    turn it is."""


@dataclasses.dataclass(frozen=True)
class FCNConfig:
    """A masked fully-convolutional residual network with global pooling, for every board side."""

    blocks: int = 4
    """Residual blocks of two 3x3 convolutions."""
    channels: int = 64
    """Channels of the trunk."""
    pool_every: int = 2
    """Every so many blocks, the pooled board is fed back to every point."""
    features: Features = "stones_legal"
    """Input planes: own stone +1, other stone -1, empty 0; or that and the legal moves; or these and whose
    turn it is."""


@dataclasses.dataclass(frozen=True)
class SubgraphConfig:
    """The ensemble over sampled subgraphs (Sec. 3.2)."""

    per_side: float = 0.5
    """Subgraphs per live side: k = round(per_side * n) (App. "MCTS": round(n/2))."""
    shrink: int = 1
    """m = n - shrink controls the subgraphs' size (App. "MCTS": 1 or 2)."""
    largest: Literal["m", "m+1"] = "m"
    """Subgraph sizes d are drawn from (m-1)^2 to: m^2 (Sec. 3.2), or (m+1)^2 (Alg. 1)."""
    nodes: Literal["uniform", "window"] = "uniform"
    """d live points drawn uniformly (the paper), or a contiguous square window of about d points."""
    pool: Literal["mean", "max"] = "mean"
    """Scatter mean or scatter max over the subgraphs that hold a node (Sec. 3.2 names both)."""
    combine: Literal["product", "mean", "only"] = "product"
    """product: (p1 + p1*p2)/2, Sec. 3.2; mean: (p1 + p2)/2, Alg. 1; only: p2, Model 4."""


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Tree search."""

    kind: Literal["puct", "gumbel"] = "puct"
    """puct: AlphaZero's search (App. A); gumbel: Gumbel MuZero's policy with completed Q-values."""
    simulations: int = 100
    """Simulations per move."""
    c_puct: float = 1.5
    """puct: weight of the prior against the value."""
    unvisited: Literal["parent", "zero"] = "parent"
    """puct: Q of a move not yet visited: the parent's network value (Alg. 1), or 0."""
    noise_fraction: float = 0.0
    """Share of Dirichlet noise in the root's prior; the paper uses none."""
    noise_concentration: float = 10.0
    """Alpha of the noise is this number divided by the number of legal moves."""
    considered: int = 16
    """gumbel: root moves considered."""
    gumbel_scale: float = 1.0
    """gumbel: scale of the noise at the root; 0 plays deterministically."""
    take_wins: bool = False
    """Whether the rules are asked which moves win at once: where there are any, the root's prior is theirs.
    The paper's player has to learn them all."""
    score: float = 0.0
    """Weight of the stones on the board against the network in the value of a position: the greedy player's
    score, divided by the number of stones.  0 trusts the network alone (the paper)."""


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """Which player, and the settings of the networks it may be made of."""

    name: ModelName = "saz"
    """saz: the complete player; model1: CNN for the tested size; model2: saz trained on the tested
    size; model3: full graph only; model4: subgraphs only; model5: small CNN slid over the board;
    fcn: the masked fully-convolutional rival."""
    gin: GINConfig = GINConfig()
    cnn: CNNConfig = CNNConfig()
    fcn: FCNConfig = FCNConfig()
    subgraphs: SubgraphConfig = SubgraphConfig()


@dataclasses.dataclass(frozen=True)
class SelfPlayConfig:
    """Games played by the newest network against itself (Alg. 3)."""

    games: int = 64
    """Games under way at once, over all devices."""
    moves: int = 64
    """Moves that each of them makes per iteration; games that end restart at once."""
    favour: Literal["small", "large", "none"] = "small"
    """How a new game draws its board side: weights fall (App.: 0.4 0.3 0.2 0.1 for 6 7 8 9), rise
    (Alg. 3: 0.4 for the largest) or are equal."""
    subgraphs: bool = True
    """Whether models with subgraphs use them in self-play too (the paper), or only when they play."""
    temperature_moves: int = 25
    """Moves are drawn with tau = 1 before this move of a game, with tau = 0 after it."""
    openings: int = 0
    """A new game begins with 0 to this many random plies, which nobody learns from."""
    slips: float = 0.0
    """Share of moves that are drawn from all legal ones instead: a player that counts on mistakes keeps a
    margin, and sees more kinds of positions.  The policy learned is still the search's."""
    full_share: float = 1.0
    """Share of moves searched in full; the others get `fast_simulations` and teach the value only."""
    fast_simulations: int = 8
    """Simulations of the moves that are not searched in full."""


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    """Optimisation on the shuffled history."""

    history: int = 20
    """Iterations of self-play that are kept (H)."""
    passes: float = 1.0
    """Passes over the kept history per iteration."""
    batch_size: int = 64
    """Positions per optimisation step, over all devices."""
    piece: int = 0
    """Positions whose gradient a CPU computes at a time, 0 for all: the sum is the same, but pieces of about
    3000 nodes fit its cache.  Batch norm normalises each piece by itself."""
    learning_rate: float = 1e-3
    """Adam's learning rate, reached after `warmup_steps`."""
    schedule: Literal["constant", "cosine"] = "constant"
    """After the warm-up: constant, or a cosine down to a tenth over `decay_steps`."""
    warmup_steps: int = 0
    """Steps of linear warm-up."""
    decay_steps: int = 100_000
    """Length of the cosine in steps."""
    clip: float = 0.0
    """Largest global norm of the gradient; 0 clips nothing."""
    l2: float = 0.0
    """c of the loss (App. A); the paper uses 0."""
    value_weight: float = 1.0
    """Weight of the value's squared error against the policy's cross-entropy."""
    surprise: float = 0.0
    """Share of a pass that is dealt out by how far the search's policy is from what the network said: rare
    lessons are then repeated.  0 shows every position equally often (the paper)."""
    policy_over: Literal["nodes", "legal"] = "nodes"
    """The policy's softmax while learning runs over all nodes (the paper) or over legal moves only."""
    symmetries: bool = False
    """Turn and mirror each sampled position by a random one of the 8 symmetries."""
    average: float = 0.0
    """Decay of a running average of the weights, which then plays and is exported; 0 averages nothing."""


@dataclasses.dataclass(frozen=True)
class EvaluationConfig:
    """Matches against random and greedy during training."""

    every: int = 10
    """Iterations between evaluations, each of which keeps a stage of the agent; 0: at the end only."""
    games: int = 32
    """Games per opponent and size, half with each colour; 0 plays none and only keeps the stages."""
    simulations: int = 32
    """Simulations per move."""
    sizes: tuple[int, ...] = ()
    """Board sides; empty: the largest trained one and an unseen one of about twice that."""


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """Everything that decides what a run computes."""

    game: GameName = "gomoku"
    """othello, gomoku or go."""
    k: int = 5
    """gomoku: stones in a row that win."""
    komi: float | None = None
    """go: points for light; None: a fair value for each board side."""
    model: ModelName = "saz"
    """saz: the complete player; model1: CNN for the tested size; model2: saz trained on the tested
    size; model3: full graph only; model4: subgraphs only; model5: small CNN slid over the board;
    fcn: the masked fully-convolutional rival."""
    sizes: tuple[int, ...] = (5, 6, 7, 8, 9)
    """Board sides that self-play draws from."""
    seed: int = 0
    """The same seed gives the same run."""
    gin: GINConfig = GINConfig()
    cnn: CNNConfig = CNNConfig()
    fcn: FCNConfig = FCNConfig()
    subgraphs: SubgraphConfig = SubgraphConfig()
    search: SearchConfig = SearchConfig()
    selfplay: SelfPlayConfig = SelfPlayConfig()
    learner: LearnerConfig = LearnerConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    @property
    def game_options(self) -> dict[str, Any]:
        """What `make_game` takes besides the game's name and padded side."""
        options: dict[str, dict[str, Any]] = {"gomoku": {"k": self.k}, "go": {"komi": self.komi}}
        return options.get(self.game, {})

    @property
    def model_config(self) -> ModelConfig:
        """The part that evaluators need."""
        cnn = dataclasses.replace(self.cnn, side=max(self.sizes))
        return ModelConfig(self.model, self.gin, cnn, self.fcn, self.subgraphs)


Config = TypeVar("Config")


def config_from_dict(cls: type[Config], data: Any, where: str = "") -> Config:
    """The settings `cls` from what `dataclasses.asdict`, and JSON after it, made of them.

    Settings that `data` does not have keep their defaults; unknown ones and values that do not fit are a
    `ValueError`.  `where` is the path of `data` in the settings it is a part of.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{where or cls.__name__} must be a group of settings, not {data!r}")
    types_of = typing.get_type_hints(cls)
    for name in data:
        if name not in types_of:
            known = ", ".join(types_of)
            raise ValueError(f"{where or cls.__name__} has no setting {name!r}; it has {known}")
    prefix = where and f"{where}."
    return cls(**{name: _fitting(types_of[name], value, prefix + name) for name, value in data.items()})


def _fitting(wanted: Any, value: Any, where: str) -> Any:
    """`value` as the type `wanted`, as far as JSON bends it: lists for tuples, whole numbers for floats."""
    origin, inside = typing.get_origin(wanted), typing.get_args(wanted)
    if dataclasses.is_dataclass(wanted):
        return config_from_dict(typing.cast(type, wanted), value, where)
    if origin is types.UnionType:
        if value is None and type(None) in inside:
            return None
        return _fitting(next(kind for kind in inside if kind is not type(None)), value, where)
    if origin is tuple and isinstance(value, (list, tuple)):
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        if len(kinds) == len(value):
            items = enumerate(zip(kinds, value, strict=True))
            return tuple(_fitting(kind, item, f"{where}[{index}]") for index, (kind, item) in items)
    if origin is Literal and value in inside:
        return value
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is wanted:
        return value
    if origin is Literal:
        raise ValueError(f"{where} must be one of {', '.join(map(str, inside))}, not {value!r}")
    raise ValueError(f"{where} must be {wanted if origin else wanted.__name__}, not {value!r}")


def config_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A line for every setting that differs between two `dataclasses.asdict`s, JSON or not."""
    before, after = _flat(old), _flat(new)
    names = [*before, *(name for name in after if name not in before)]
    return [
        f"{name}: {before.get(name, 'absent')} in the run, {after.get(name, 'absent')} asked for"
        for name in names
        if name not in before or name not in after or before[name] != after[name]
    ]


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{dotted path: value}, tuples as the lists that JSON makes of them."""
    flat: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = list(value) if isinstance(value, tuple) else value
    return flat
