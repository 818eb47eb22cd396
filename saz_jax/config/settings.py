"""Every setting as a frozen dataclass with a docstring under each field.

The defaults of the network, subgraph and search settings are the paper's. Where the paper contradicts
itself or is silent, one `Literal` field holds the readings and says where each one stands.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from saz_jax.config.shape_text import parse_shapes

Features = Literal["stones", "stones_legal", "stones_legal_turn", "stones_legal_margin"]


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
    """grid4: the game's own neighbours, all alike (four in the paper, six in Hex); grid8: eight, all alike;
    compass8: eight, with weights of its own for each compass direction."""
    dummy: Literal["sum", "mean", "max"] = "sum"
    """How messages into the dummy node are pooled: sum (the paper; grows with the board), mean (one stone
    weighs less on a larger board) or max (a pattern counts the same on every board)."""
    readout: Literal["mean", "dummy", "scaled", "max", "ownership"] = "mean"
    """Where the value is read: the mean over all nodes (the paper; what one pattern says is diluted on a
    larger board); the dummy node alone; the mean and a second one that grows with the board's side; the
    largest node's; or the sum of the ownership per side, weighed by how full the board is."""
    residual: bool = False
    """Add each GIN layer's input to its output where the widths agree."""
    norm: Literal["batch", "layer"] = "batch"
    """Normalisation of the fully-connected layers: masked batch norm (the paper) or layer norm."""
    dropout: float = 0.3
    """Dropout rate of the fully-connected layers while training."""
    ownership: bool = False
    """Also learn who will own each point in the end; `readout` "ownership" always does."""
    reply: bool = False
    """Also learn the policy of the move that follows."""
    soft: bool = False
    """Also learn a softened policy."""
    outcomes: bool = False
    """Say how likely a win, a tie and a loss are, learned by cross-entropy; else only a value, learned by its
    squared error."""
    features: Features = "stones"
    """Node features: own stone +1, other stone -1, empty 0 (the paper); or that and the legal moves; or these
    and whose turn it is, which decides the value where the colours are not alike (Go's komi); or, instead of
    the turn, the points that the player to move is given before the count: minus Go's komi for dark."""
    extra_planes: bool = False
    """Also see what the game offers beside its stones (`Game.extra_planes`; Go: shortage of liberties)."""


@dataclasses.dataclass(frozen=True)
class CNNConfig:
    """AlphaZero's convolutional network for one board side (App. "CNN architecture")."""

    side: int = 8
    """The only board side that it reads; training sets it to the largest of its sides."""
    channels: int = 512
    """Channels of the convolutions: two with padding, then two without."""
    dense: tuple[int, int] = (1024, 512)
    """Widths of the two fully-connected layers."""
    dropout: float = 0.3
    """Dropout rate of the fully-connected layers while training."""
    features: Features = "stones"
    """Input planes: own stone +1, other stone -1, empty 0; or that and the legal moves; or these and whose
    turn it is, or the points that the player to move is given."""
    extra_planes: bool = False
    """Also see what the game offers beside its stones (`Game.extra_planes`; Go: shortage of liberties)."""


@dataclasses.dataclass(frozen=True)
class FCNConfig:
    """A masked fully-convolutional residual network with global pooling, for every board side."""

    blocks: int = 4
    """Residual blocks of two 3x3 convolutions."""
    channels: int = 64
    """Channels of the trunk."""
    pool_every: int = 2
    """Every so many blocks, the pooled board is fed back to every point."""
    readout: Literal["pooled", "ownership"] = "pooled"
    """Where the value is read: the pooled board (mean, mean scaled by the side, maximum); or the sum of the
    ownership per side, weighed by how full the board is."""
    ownership: bool = False
    """Also learn who will own each point in the end; `readout` "ownership" always does."""
    reply: bool = False
    """Also learn the policy of the move that follows."""
    soft: bool = False
    """Also learn a softened policy."""
    outcomes: bool = False
    """Say how likely a win, a tie and a loss are, learned by cross-entropy; else only a value, learned by its
    squared error."""
    features: Features = "stones_legal"
    """Input planes: own stone +1, other stone -1, empty 0; or that and the legal moves; or these and whose
    turn it is, or the points that the player to move is given."""
    extra_planes: bool = False
    """Also see what the game offers beside its stones (`Game.extra_planes`; Go: shortage of liberties)."""


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
    combine: str = "product"
    """product: (p1 + p1*p2)/2, Sec. 3.2; mean: (p1 + p2)/2, Alg. 1; only: p2, Model 4; or one of your own."""


@dataclasses.dataclass(frozen=True)
class SearchConfig:
    """Tree search; settings of a registered search derive from this, with a `kind` of their own."""

    kind: str = "puct"
    """puct: AlphaZero's search (App. A); gumbel: Gumbel MuZero's policy with completed Q-values; or the name
    of a registered search."""
    simulations: int = 100
    """Simulations per move."""
    c_puct: float = 1.5
    """puct: weight of the prior against the value."""
    unvisited: Literal["parent", "zero"] = "parent"
    """puct: Q of a move not yet visited: the parent's network value (Alg. 1), or 0."""
    dirichlet_fraction: float = 0.0
    """Share of Dirichlet noise in the root's prior; the paper uses none."""
    dirichlet_total: float = 10.0
    """Alpha of the noise is this number divided by the number of legal moves."""
    max_considered_actions: int = 16
    """gumbel: root moves considered."""
    batched_rounds: bool = False
    """gumbel: evaluate the root moves of a round of sequential halving together.  One game is then searched
    several times as fast; where many games are searched at once, as in training, it gains nothing."""
    take_wins: bool = False
    """Ask the rules which moves win at once; if there are any, they get all of the root's prior.
    The paper's player has to learn them."""
    solve: bool = False
    """Keep track of what finished games prove: solved positions are not searched again, proven wins are
    played and proven losses avoided.  The paper's search does none of this."""
    heuristic_weight: float = 0.0
    """Weight of the greedy player's score, per stone on the board, against the network in the value of a
    position.  0 trusts the network alone (the paper)."""


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """Which player: its network, and how the network is asked."""

    name: str = "saz"
    """saz: the complete player; model1: CNN for the tested size; model2: saz trained on the tested
    size; model3: full graph only; model4: subgraphs only; model5: small CNN slid over the board;
    fcn: the masked fully-convolutional rival; or the name of a registered model."""
    network: Any = GINConfig()
    """Settings of the network, of a class that is registered with it: GINConfig, CNNConfig, FCNConfig, ..."""
    ensemble: Any = SubgraphConfig()
    """Settings of a model that asks its network more than once (saz, model2, model4: `SubgraphConfig`), of
    the class that is registered with the model; None where a model has no settings."""


@dataclasses.dataclass(frozen=True)
class SelfPlayConfig:
    """Games played by the newest network against itself (Alg. 3)."""

    games: int = 64
    """Games in progress at once, over all devices."""
    moves: int = 64
    """Moves made in each of them per iteration; a game that ends is replaced by a new one."""
    favour: Literal["small", "large", "none"] = "small"
    """How a new game draws its board side: weights fall (App.: 0.4 0.3 0.2 0.1 for 6 7 8 9), rise
    (Alg. 3: 0.4 for the largest) or are equal."""
    size_weights: tuple[float, ...] = ()
    """How often a new game takes each of the training sizes, in their order; empty: as `favour` says."""
    paddings: tuple[int, ...] = ()
    """Rising sides such as 8 12: boards up to 8 are played and learned in a program of side 8, larger ones in
    one of side 12, so that small boards do not pay for large ones.  Each iteration plays in one program, as
    often as the weights of its boards say.  Empty: one program for all."""
    subgraphs: bool = True
    """Whether models with subgraphs use them in self-play too (the paper), or only when they play."""
    temperature_moves: int = 25
    """Moves are drawn with tau = 1 before this move of a game, with tau = 0 after it."""
    max_opening_moves: int = 0
    """A new game begins with 0 to this many random plies; they are no training examples."""
    margin_noise: float = 0.0
    """Standard deviation of the points, rounded to whole ones, that a new game adds to its margin (Go's
    komi), so that a player learns to play on when it is far ahead or behind.  0: the game's own margin."""
    random_move_share: float = 0.0
    """Share of moves drawn at random from all legal ones: the network sees more kinds of positions, and
    learns that mistakes happen.  The policy learned is still the search's."""
    fork_share: float = 0.0
    """Share of new games that branch off a game under way, by a move drawn from all legal ones."""
    earlier_share: float = 0.0
    """Share of the games in which one side is an earlier self, with the weights of any earlier iteration.
    The policy learned is still the newest's, for both sides."""


@dataclasses.dataclass(frozen=True)
class LearnerConfig:
    """Optimisation on the shuffled history."""

    history: int = 20
    """Iterations of self-play that are kept (H)."""
    epochs: float = 1.0
    """Passes over the kept history per iteration."""
    batch_size: int = 64
    """Positions per optimisation step, over all devices."""
    microbatch: int = 0
    """Positions whose gradient a CPU computes at a time, 0 for all: the sum is the same, but microbatches of
    about 3000 nodes fit its cache.  Batch norm normalises each microbatch by itself."""
    learning_rate: float = 1e-3
    """Adam's learning rate, reached after `warmup_steps`."""
    schedule: Literal["constant", "cosine"] = "constant"
    """After the warm-up: constant, or a cosine down to a tenth over `decay_steps`."""
    warmup_steps: int = 0
    """Steps of linear warm-up."""
    decay_steps: int = 100_000
    """Length of the cosine in steps."""
    max_grad_norm: float = 0.0
    """Larger gradients are scaled down to this global norm; 0 clips nothing."""
    l2: float = 0.0
    """c of the loss (App. A); the paper uses 0."""
    surprise_weight: float = 0.0
    """Share of a pass drawn in proportion to how far the search's policy was from the network's, so that
    surprising positions are seen more often.  0 shows every position equally often (the paper)."""
    ownership_weight: float = 1.0
    """Weight of the squared error of the ownership, mean over points, in networks that have this head."""
    score_weight: float = 0.0
    """Weight of the squared error of the score, per side of the board; for the same networks."""
    reply_weight: float = 0.15
    """Weight of the cross-entropy of the reply, in networks that have this head."""
    soft_weight: float = 1.0
    """Weight of the cross-entropy of the softened policy, in networks that have this head."""
    policy_over: Literal["nodes", "legal"] = "nodes"
    """The policy's softmax while learning runs over all nodes (the paper) or over legal moves only."""
    symmetries: bool = False
    """Turn and mirror each sampled position by a random one of the game's symmetries."""
    ema_decay: float = 0.0
    """Decay of an exponential moving average of the weights, which then plays and is exported; 0: none."""


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

    game: str = "gomoku"
    """The name of a game: one of ours, such as othello, or one that is registered."""
    game_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The game's own options, such as k for gomoku and komi for go; those left out have their defaults."""
    model: str = "saz"
    """saz: the complete player; model1: CNN for the tested size; model2: saz trained on the tested
    size; model3: full graph only; model4: subgraphs only; model5: small CNN slid over the board;
    fcn: the masked fully-convolutional rival; or the name of a registered model."""
    sizes: tuple[int, ...] = (5, 6, 7, 8, 9)
    """Sides of the square boards that self-play draws from."""
    shapes: tuple[str, ...] = ()
    """Boards that self-play draws from in place of `sizes`: 9x9, 7x11 (rows x columns), diamond:9, cross:9,
    ring:9, a drawing such as ..#/.../#.., or holes:9:0.1, of which each game misses a tenth of the points."""
    seed: int = 0
    """The same seed gives the same run."""
    network: Any = GINConfig()
    """Settings of the network; see `ModelConfig`."""
    ensemble: Any = SubgraphConfig()
    """Settings of the model's ensemble; see `ModelConfig`."""
    search: Any = SearchConfig()
    """Settings of the search: `SearchConfig`, or those of a registered search."""
    selfplay: SelfPlayConfig = SelfPlayConfig()
    learner: LearnerConfig = LearnerConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    @property
    def boards(self) -> tuple[int | str, ...]:
        """What self-play draws from: the shapes, or the sides of squares."""
        return tuple(shape.text for shape in parse_shapes(self.shapes)) or self.sizes

    @property
    def board_sides(self) -> tuple[int, ...]:
        """The live side of each of these boards."""
        return tuple(shape.side for shape in parse_shapes(self.shapes)) or self.sizes

    @property
    def sides(self) -> tuple[int, ...]:
        """The live sides of these boards, each once."""
        return tuple(dict.fromkeys(self.board_sides))

    @property
    def model_config(self) -> ModelConfig:
        """The player that is trained; a network for one board side gets the largest."""
        network = self.network
        if any(field.name == "side" for field in dataclasses.fields(network)):
            network = dataclasses.replace(network, side=max(self.sides))
        return ModelConfig(self.model, network, self.ensemble)
