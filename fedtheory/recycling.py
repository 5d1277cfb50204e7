"""Recycled layers: an upload filter that applies their last update again, and the same for the server's steps."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from fedtheory.chain import masked
from fedtheory.fields import word
from fedtheory.layerwise import by_coordinate, layer_norms
from fedtheory.parts import ServerOptimiser, UploadFilter
from synthetic.base.checks import number, whole
from synthetic.numbers.arrays import BALLS, backend_of, namespace, to_numpy
from synthetic.numbers.draws import LAYERS
from synthetic.numbers.rounds import each_round, now

__all__ = ["RecycledSteps", "Recycling"]

@dataclass(frozen=True)
class Recycling(UploadFilter):
    """Recycles layers: they are not sent, and their applied update is the one of the round before, or zero.

    The layers of the next round are drawn one after the other without replacement, each time with probabilities in
    proportion to a weight of the layers that are left. The score of a layer is ``|update| / |model|``, the norms of the
    update that was applied in the round and of the model before it, at least ``score_floor``; a layer whose model is zero
    has an infinite score, and those are drawn last, in an order drawn uniformly. Scores start at ``score_floor``.

    Args:
        recycled: layers per round, a number or (runs,).
        selector: the weight: luar, 1/score; inverted, score; uniform, 1; update-norm, 1/score where the score is the
            update's norm alone.
        score: of a recycled layer: its old one (keep), that of the applied update (recompute), or that of the mean change
            that was not sent (oracle, a diagnostic for which everything is sent, but not counted).
        R0: layers recycled in round 0: none (empty), or all, from ``initial_update``.
        initial_update: (dim,) or (runs, dim); zero if None.
        score_norm: of the model in the score: the one that clients received (broadcast), or the server's (model), which
            are the same unless the base looks ahead.
        lr_decay: what is recycled: the applied update (displacement), or that times the sum of this round's step sizes over
            the sum of the last round's (rescaled; factor 1 where that sum is 0, and in round 0).
        mode: recycle, or drop: the applied update of the chosen layers is zero.
        masks: truth values (rounds, layers) or (runs, rounds, layers), the layers of each round in place of drawn ones;
            the last row holds on.
    """

    recycled: Any = 1
    selector: str = word("luar", "inverted", "uniform", "update-norm")
    score: str = word("keep", "recompute", "oracle")
    R0: str = word("empty", "all")
    initial_update: Any = None
    score_floor: Any = 1e-12  #: number or (runs,)
    score_norm: str = word("broadcast", "model")
    lr_decay: str = word("displacement", "rescaled")
    mode: str = word("recycle", "drop")
    masks: Any = None
    whole = False
    may_be_infinite = ("score",)

    def __post_init__(self):
        super().__post_init__()
        if not hasattr(self.recycled, "shape"):
            whole("recycled", self.recycled, 0)
        elif bool((self.recycled < 0).any()) or bool((self.recycled % 1 != 0).any()):
            raise ValueError(f"recycled must be whole numbers of at least 0; got {self.recycled!r}")
        if not hasattr(self.score_floor, "shape"):
            number("score_floor", self.score_floor, strict=True)
        elif bool((self.score_floor <= 0).any()):
            raise ValueError(f"score_floor must be above 0; got {self.score_floor!r}")

    def check(self, algorithm):
        if self.lr_decay == "rescaled" and (algorithm.client.solves or algorithm.client_steps is not None):
            raise ValueError("a rescaled update needs one length of the local steps per round, which a solved local problem "
                             "and clients of different local steps do not have; allowed there: lr_decay='displacement'")

    # state ----------------------------------------------------------------------------------------------------------------
    def refuses(self, federation):
        layers, most = len(federation.layers()), int(np.max(to_numpy(self.recycled)))
        if most > layers and self.masks is None:
            return f"recycled must be at most the number of layers of {federation.name}, {layers}; got {most}"
        if federation.backend.library == "exact" and self.masks is None and self.selector != "uniform":
            return "scores take roots, which fractions do not have; allowed there: masks, or selector='uniform'"
        return None

    def server_state(self, federation, x, draws):
        runs, layers, backend = x.shape[0], len(federation.layers()), federation.backend
        first = np.full((runs, layers), self.R0 == "all") if self.masks is None else self._given_layers(0, runs, layers)
        return {
            "applied_update": 0 * x if self.initial_update is None else 0 * x + backend.array(self.initial_update),
            "score": 0 * x[:, :1] + backend.array(np.zeros((1, layers))) + self._floor(backend),
            "recycle_set": backend.booleans(first), "age": backend.integers(np.zeros((runs, layers), dtype=int)),
        }

    def _floor(self, backend):
        """The least score, a number or (runs | 1, 1)."""
        if isinstance(self.score_floor, (int, float)) and backend.library in ("torch", "numpy"):
            return float(self.score_floor)
        return backend.array(self.score_floor).reshape(-1, 1)

    def _given_layers(self, round, runs, layers):
        """The given layers of a round, truth values (runs, layers)."""
        table = to_numpy(self.masks) != 0
        if table.ndim not in (2, 3) or table.shape[-1] != layers or (table.ndim == 3 and table.shape[0] not in (1, runs)):
            raise ValueError(f"masks must be (rounds, {layers}) or ({runs}, rounds, {layers}); got {table.shape}")
        return np.broadcast_to(table[..., min(round, table.shape[-2] - 1), :], (runs, layers))

    # a round --------------------------------------------------------------------------------------------------------------
    def send(self, change, local, context):
        fresh = by_coordinate(~context.state.server["recycle_set"], context.federation.layers())[:, None, :]
        sent, floats, local = masked(change, fresh, local)
        return (change if self.score == "oracle" else sent), floats, local

    def receive(self, change, context):
        layers, server, xp = context.federation.layers(), context.state.server, namespace(change)
        recycled, again = server["recycle_set"], server["applied_update"]
        if self.mode == "drop":
            again = 0 * change
        elif self.lr_decay == "rescaled":
            again = self._factor(context) * again
        applied = xp.where(by_coordinate(recycled, layers), again, change)
        score = self._scores(applied, change, context)
        return applied, {
            "applied_update": applied, "score": score, "recycle_set": self._next(score, context),
            "age": (server["age"] + 1) * recycled,
        }

    def _factor(self, context):
        """The factor of the last update when it is rescaled and applied again."""
        if context.round == 0:
            return 1
        this, before = (context._replace(round=context.round - ago).server_length() for ago in (0, 1))
        if hasattr(before, "ndim"):
            return this / namespace(before).where(before > 0, before, 1)
        return this / before if before > 0 else 1

    def _scores(self, applied, change, context):
        """Scores (runs, layers) of the round, infinite where the layer's model is zero."""
        layers, xp, old = context.federation.layers(), namespace(applied), context.state.server["score"]
        if context.federation.backend.library == "exact":
            return old
        score = layer_norms(change if self.score == "oracle" else applied, layers)
        if self.selector != "update-norm":
            size = layer_norms(context.x if self.score_norm == "broadcast" else context.state.x, layers)
            positive, infinite = size > 0, context.federation.backend.array(float("inf"))
            score = xp.where(positive, score / xp.where(positive, size, 1), infinite)
        floor = self._floor(context.federation.backend)
        score = xp.where(score > floor, score, floor)
        return xp.where(context.state.server["recycle_set"], old, score) if self.score == "keep" else score

    def _next(self, score, context):
        """The layers recycled in the next round, truth values (runs, layers)."""
        backend, next_round = context.federation.backend, context.round + 1
        if self.masks is not None:
            given = partial(self._given_layers, runs=score.shape[0], layers=score.shape[1])
            return backend.booleans(now(each_round(given, next_round)))
        places = context.draws.order(LAYERS, next_round, self.weights(score))
        return places < context.server_number(self.recycled)

    def weights(self, score):
        """Weights (runs, layers) from the scores: the first layer is drawn with probabilities proportional to them."""
        if backend_of(score) == BALLS:
            if self.selector == "uniform":
                return 0 * score + 1
            finite = np.frompyfunc(lambda ball: ball.ball.is_finite(), 1, 1)(score).astype(bool)
            score = np.where(finite, score, score * 0 + 1)
            return np.where(finite, score if self.selector == "inverted" else 1 / score, BALLS.array(0))
        xp = namespace(score)
        score = score.astype(float) if score.dtype == object else xp.astype(score, xp.float64, copy=False)
        if self.selector == "uniform":
            return xp.ones_like(score)
        return xp.where(score < float("inf"), score, 0) if self.selector == "inverted" else 1 / score

    def extra_bits(self, context):
        return len(context.federation.layers()), 0


@dataclass(frozen=True)
class RecycledSteps(ServerOptimiser):
    """``inner`` on the fresh layers; a recycled layer repeats the server's last step, and the optimiser's arrays rest."""

    inner: ServerOptimiser = field(default_factory=ServerOptimiser)
    initial_update: Any = None

    def server_state(self, federation, x, draws):
        first = 0 * x if self.initial_update is None else 0 * x + federation.backend.array(self.initial_update)
        return self.inner.server_state(federation, x, draws) | {"applied_step": first}

    def client_state(self, federation, x, draws):
        return self.inner.client_state(federation, x, draws)

    def begin(self, local, context):
        return self.inner.begin(local, context)

    def broadcast(self, state):
        return self.inner.broadcast(state)

    def output(self, state):
        return self.inner.output(state)

    def step(self, average, context):
        xp, state = namespace(average), context.state
        recycled = by_coordinate(state.server["recycle_set"], context.federation.layers())
        x, new = self.inner.step(average, context)
        x = xp.where(recycled, state.x + state.server["applied_step"], x)
        rested = {name: xp.where(recycled, state.server[name], value) for name, value in new.items() if value.ndim == 2}
        return x, new | rested | {"applied_step": x - state.x}

    def check(self, algorithm):
        self.inner.check(algorithm)

    def refuses(self, federation):
        return self.inner.refuses(federation)
