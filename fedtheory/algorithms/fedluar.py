"""FedLUAR: in every round some layers are not sent; the server applies their last update again."""

from dataclasses import dataclass
from inspect import signature
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.chain import chained
from fedtheory.fields import checked, rate
from fedtheory.layerwise import by_coordinate, share_of
from fedtheory.method import register
from fedtheory.parts import ClientOptimiser
from fedtheory.recycling import RecycledSteps, Recycling
from fedtheory.traits import STEP, Costs, Law, Reduction, Variant
from synthetic.base.checks import flag, one_of
from synthetic.numbers.arrays import namespace

__all__ = ["LocalMomentum", "feddrop", "fedluar", "recycle"]


@dataclass(frozen=True)
class LocalMomentum(ClientOptimiser):
    """``u <- momentum * u + g``, and the direction is ``u``; from zero in every round, or ``kept`` by the client.

    Example:
        On 1/2 (x - 1)^2 with steps of 1/2: u is -1, then -1/2 * 1 - 1/2.

        >>> from fedtheory import Algorithm, run
        >>> from synthetic import Quadratic
        >>> made = Algorithm(0.5, 2, client=LocalMomentum(0.5))
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 1.0]
    """

    momentum: Any = rate(0.9, high=1)  #: number, (runs,) array or Schedule, at most 1
    kept: bool = checked(False, flag)

    def client_state(self, federation, x, draws):
        return {"local_velocity": 0 * federation.all_clients(x)} if self.kept else {}

    def begin(self, local, context):
        return local if self.kept else local.with_own(local_velocity=0 * local.x)

    def direction(self, g, local, context):
        u = context.algorithm.now(self.momentum, context) * local.own["local_velocity"] + g
        return u, local.with_own(local_velocity=u)

    def finish(self, local, context):
        return {"local_velocity": local.own["local_velocity"]} if self.kept else {}


def recycle(algorithm: Algorithm, recycled=1, recycled_object="pre-optimizer", **options) -> Algorithm:
    """Adds the recycling of layers to any method; ``options`` are the fields of :class:`Recycling`.

    The applied update takes the place of the change of the average that enters the server's optimiser; scores use the model
    from which local training started. An upload filter of the method acts on the fresh layers. ``recycled_object``:
    pre-optimizer, the update that enters the server's optimiser is recycled; post-optimizer, the step that it makes: a
    recycled layer repeats the server's last step, and the optimiser's arrays rest there; scores have the mean change.

    Example:
        >>> from fedtheory import make_algorithm
        >>> recycle(make_algorithm("fedprox"), 2).name
        'FedProx + LUAR'
    """
    one_of("recycled_object", recycled_object, ("pre-optimizer", "post-optimizer"))
    filtered = Recycling(recycled, **options)
    name = f"{algorithm.name} + {'LUAR' if filtered.mode == 'recycle' else 'dropped layers'}"
    made = algorithm.having(upload=chained(filtered, algorithm.upload), name=name)
    if recycled_object == "pre-optimizer":
        return made
    if filtered.mode == "drop" or filtered.score == "recompute":
        raise ValueError("the server's steps are recycled only in mode 'recycle', and have no recomputed score; got mode "
                         f"{filtered.mode!r} and score {filtered.score!r}")
    return made.having(server=RecycledSteps(made.server, filtered.initial_update))


def fedluar(
    eta_l=0.1, local_steps=1, base="fedavg", recycled=1, selector="luar", score="keep", R0="empty", initial_update=None,
    score_floor=1e-12, score_norm="broadcast", lr_decay="displacement", mode="recycle", masks=None,
    recycled_object="pre-optimizer", local_momentum=0.0, momentum_kept=False,
    participants=None, sampling="without-replacement",
    **arguments,
) -> Algorithm:
    """FedLUAR (Algorithms 1 and 2) on the method named ``base`` (X + LUAR), whose own ``arguments`` may follow.

    ::

        change_l  <- mean over sampled k of (x_k - x)_l                      fresh layers l: these alone are sent
        applied_l <- change_l, or for recycled l: applied_l of the last round
        x         <- x + applied                                             or what the base does with this as its x_bar
        score_l   <- max(|applied_l| / |x_l|, score_floor)                   fresh layers; the others keep theirs
        the next round recycles ``recycled`` layers, drawn one after the other without replacement, each time
        with probabilities in proportion to 1/score_l

    |x_l| is of the model that the round's clients received; a layer where it is zero is drawn after all others. Round 0
    sends every layer (``R0``), applied starts at zero (``initial_update``). ``recycled = 0`` is the base; a participant
    receives one model and one bit per layer. The mean has the weights w_k of ``fedavg``.
    :class:`fedtheory.recycling.Recycling` has the rules of ``selector``, ``score``, ``R0``, ``initial_update``,
    ``score_norm``, ``lr_decay``, ``mode`` and ``masks``, :func:`recycle` those of ``recycled_object``. A ``local_momentum``
    above 0 (0.9 in the paper's experiments) replaces the base's client optimiser by :class:`LocalMomentum`: ``u <-
    local_momentum * u + g``, ``x_k <- x_k - eta_l * u``, u from zero in every round or, with ``momentum_kept``, from its
    value after the client's last round.

    Example:
        Of two equal layers one is sent; the other repeats its first step of 1/2 from 0 towards 1.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0, 1.0]]], [[[1.0, 1.0]]], layers=2)
        >>> luar = fedluar(0.5, recycled=1, masks=[[0, 0], [1, 0], [0, 1]])
        >>> run(luar, pair, 3).dataset.x.values[0].tolist()
        [[0.0, 0.0], [0.5, 0.5], [1.0, 0.75], [1.0, 1.0]]
    """
    from fedtheory.registry import find_algorithm, make_algorithm

    known, chosen = find_algorithm(base).arguments, {"participants": participants, "sampling": sampling}
    defaults = signature(fedluar).parameters
    arguments |= {name: value for name, value in chosen.items() if name in known or value != defaults[name].default}
    algorithm = make_algorithm(base, eta_l=eta_l, local_steps=local_steps, **arguments)
    if not (isinstance(local_momentum, (int, float)) and local_momentum == 0):
        algorithm = algorithm.having(client=LocalMomentum(local_momentum, momentum_kept))
    made = recycle(algorithm, recycled, recycled_object, selector=selector, score=score, R0=R0,
                   initial_update=initial_update, score_floor=score_floor, score_norm=score_norm, lr_decay=lr_decay,
                   mode=mode, masks=masks)
    return made.having(name="FedLUAR") if base == "fedavg" and mode == "recycle" else made


def feddrop(
    eta_l=0.1, local_steps=1, base="fedavg", recycled=1, selector="luar", score="keep", R0="empty", score_floor=1e-12,
    masks=None, participants=None, sampling="without-replacement", **arguments,
) -> Algorithm:
    """FedLUAR's drop variant: the chosen layers have ``applied_l = 0`` in the round, the rest is as in :func:`fedluar`.

    They thus stay where they are. The paper's introduction names the variant without pseudocode; this is its specification's
    reading.

    Example:
        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0, 1.0]]], [[[1.0, 1.0]]], layers=2)
        >>> run(feddrop(0.5, masks=[[0, 0], [1, 0]]), pair, 2).dataset.x.values[0].tolist()
        [[0.0, 0.0], [0.5, 0.5], [0.5, 0.75]]
    """
    return fedluar(eta_l, local_steps, base, recycled, selector, score, R0, None, score_floor, mode="drop", masks=masks,
                   participants=participants, sampling=sampling, **arguments)


_PAPER = "FedLUAR"


def _sent(round, state, federation):
    """The share of the parameters that is sent, (runs, 1)."""
    return share_of(by_coordinate(~state.server["recycle_set"], federation.layers()), state.x)


def _filter(algorithm) -> Recycling:
    return getattr(algorithm.upload, "filters", (algorithm.upload,))[0]


def _repeated(algorithm, federation, before, after):
    """The applied update of recycled layers, and that of the round before, (runs, dim)."""
    recycled = by_coordinate(before.server["recycle_set"], federation.layers())
    last = before.server["applied_update"] * (_filter(algorithm).mode == "recycle")
    return recycled * after.server["applied_update"], recycled * last


def _applied(algorithm, federation, before, after):
    return after.x - before.x, after.server["applied_update"]


def _ages(algorithm, federation, before, after):
    return after.server["age"], (before.server["age"] + 1) * before.server["recycle_set"]


def _count(algorithm, federation, before, after):
    recycled = after.server["recycle_set"]
    return namespace(recycled).sum(1 * recycled, axis=-1), _filter(algorithm).recycled


_LAWS = (Law("recycled layers repeat", _repeated), Law("ages", _ages), Law("number of layers recycled", _count),
         Law("the model moves by the applied update", _applied))

_TRAITS: dict[str, Any] = dict(
    orthogonal="within layers", units={"eta_l": STEP}, reductions=(Reduction("fedavg", {"recycled": 0}),),
    laws=_LAWS, costs=Costs(up=_sent), random=True)


def _with(base, where=None, **exempt) -> Variant:
    """LUAR on another method, without the traits that depend on that method."""
    reduction = Reduction(base, {"recycled": 0}, where=where or {})
    return Variant({"base": base}, {"orthogonal": "", "units": None, "reductions": (reduction,), "laws": _LAWS[:-1],
                                    "costs": None, "exempt": {name.replace("_", " "): why for name, why in exempt.items()}})


_BASES = (
    *(_with(base) for base in ("fedprox", "fedpaq", "fedadam", "fedyogi", "fedadagrad")),
    _with("feddropoutavg", unbiased_average="a coordinate is averaged over those who sent it"),
    *(_with(base, descends="momentum accumulates the update that a single layer repeats in every round")
      for base in ("fedacg", "fedavgm")),
    _with("fedmut", {"equal": True}, everything_received_is_counted="the server mutates the model before it sends it"),
)

register(fedluar, "fedluar", "layers with small updates are recycled instead of sent", f"{_PAPER}, Algorithms 1 and 2",
         "fedluar/fedluar", **_TRAITS, variants=_BASES)
register(feddrop, "feddrop", "layers with small updates are left where they are", f"{_PAPER}, introduction (drop variant)",
         "fedluar/drop", **_TRAITS)
