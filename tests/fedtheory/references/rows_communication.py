"""Rows of the comparison with slow references: methods that send less, with what they leave to chance."""

from fractions import Fraction as Q

import numpy as np

from synthetic import Draws
from synthetic.numbers.draws import DROPOUT, LAYERS, LOST, MUTATION, QUANTISER
from tests.fedtheory.references.communication import (
    feddropoutavg,
    fedlama,
    fedluar,
    fedluar_acg,
    fedluar_adam,
    fedluar_mut,
    fedluar_paq,
    fedmut,
    fedpaq,
    lbgm,
    luar_probabilities,
    prunefl,
)
from tests.fedtheory.references.sides import FALLING, row

__all__ = ["COMMUNICATION"]

SIZES = (1, 2)
MASKS = np.array([[0, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 1]], dtype=bool)
BLOCKS = (1, 1, 1)
FIRST = np.array([Q(1, 8), Q(-1, 4), Q(1, 2)])


def _numbers(federation, seed, stream, t, i, size):
    """Uniform numbers (size,) of client i in round t."""
    draws = Draws([seed], federation.backend)
    return draws.uniform(stream, t, np.array([[[i]]]), draws.client_numbers(size)[None], ndim=3)[0, 0]


def layers(given, federation, algorithm, seed, rounds):
    """The layers alone."""
    return {"layers": federation.layers()}


# chance ----------------------------------------------------------------------------------------------------------------
def forced(masks):
    """The layers, and the sets of a table of masks, whose last row holds on."""
    def chance(given, federation, algorithm, seed, rounds):
        sets = [set(np.flatnonzero(masks[min(t, len(masks) - 1)])) for t in range(rounds + 1)]
        return layers(given, federation, algorithm, seed, rounds) | {"recycle": lambda t, scores: sets[t], "R0": sets[0]}

    return chance


def drawn(count, weights=luar_probabilities):
    """The layers, and sets of ``count`` layers in an exponential race with the given ``weights`` of the scores."""
    def chance(given, federation, algorithm, seed, rounds):
        draws = Draws([seed], federation.backend)

        def recycle(t, scores):
            u = draws.uniform(LAYERS, t, draws.client_numbers(len(scores)), ndim=2)[0]
            arrival = [-np.log(u[l]) / w if w > 0 else np.inf for l, w in enumerate(weights(scores))]
            return np.argsort(arrival)[:count].tolist()

        return layers(given, federation, algorithm, seed, rounds) | {"recycle": recycle}

    return chance


def path_of(reference):
    """A reference that also tells what the server kept, for its path alone."""
    return lambda *arguments, **options: reference(*arguments, **options)[0]


def tosses(given, federation, algorithm, seed, rounds):
    """Uniform numbers of the quantiser."""
    return {"uniform": lambda i, t: _numbers(federation, seed, QUANTISER, t, i, federation.dim)}


def by_layer(given, federation, algorithm, seed, rounds):
    """The same, and the layers."""
    return tosses(given, federation, algorithm, seed, rounds) | layers(given, federation, algorithm, seed, rounds)


def kept(fdr, cdr=0.0):
    """Which parameters are sent."""
    def chance(given, federation, algorithm, seed, rounds):
        def sends(i, t):
            there = _numbers(federation, seed, LOST, t, i, 1)[0] >= cdr
            return (_numbers(federation, seed, DROPOUT, t, i, federation.dim) >= fdr) & there

        return {"kept": sends}

    return chance


def mutations(given, federation, algorithm, seed, rounds):
    """Signs: layer by layer the participants of the smallest numbers get +1, as many of the largest -1, a middle one 0."""
    slices = federation.layers()
    table = {}
    for t, S in enumerate(given.active):
        numbers = {i: _numbers(federation, seed, MUTATION, t, i, len(slices)) for i in S}
        for i in S:
            table[i, t] = 0 * given.x
        for l, layer in enumerate(slices):
            order = sorted(S, key=lambda i, l=l, numbers=numbers: numbers[i][l])
            for i in order[:len(S) // 2]:
                table[i, t][layer] += 1
            for i in order[len(S) - len(S) // 2:]:
                table[i, t][layer] -= 1
    return {"signs": lambda i, t: table[i, t]}


# rows ------------------------------------------------------------------------------------------------------------------
def luar(arguments=None, told=None, method="fedluar", reference=fedluar, chance=None, more=lambda *facts: {}, **options):
    """A row of FedLUAR; the masks are forced unless ``chance`` draws them. ``more``: other chance of the base method."""
    arguments, told, sizes = dict(arguments or {}), {"score": None} | (told or {}), SIZES
    if chance is None:
        chance = forced(arguments.setdefault("masks", MASKS))
    else:
        sizes, told = BLOCKS, {"floor": 1e-12} | told
        options["exact"] = False
    return row(method, path_of(reference), arguments, told, layers=sizes,
               chance=lambda *facts: chance(*facts) | more(*facts), **options)


RECYCLING = {
    "fedluar, forced": luar(),
    "fedluar, forced, scores": luar(told={"score": "keep"}, exact=False),
    "fedluar, forced, all at first": luar({"masks": ~MASKS, "initial_update": FIRST}, {"first": FIRST}),
    "fedluar, drawn, all at first": luar(
        {"R0": "all", "initial_update": FIRST}, {"R0": (0, 1, 2), "first": FIRST, "score": "keep"}, chance=drawn(1)),
    "fedluar, drop": luar({"mode": "drop"}, {"mode": "drop"}),
    "feddrop": luar(method="feddrop", told={"mode": "drop"}),
    "fedluar, rescaled": luar({"lr_decay": "rescaled"}, {"rescaled": True}, step=FALLING),
    "fedluar, falling": luar(step=FALLING),
    "fedluar, fedprox": luar({"base": "fedprox", "rho_prox": Q(1, 2)}, {"mu": Q(1, 2)}),
    "fedluar, fedacg": luar({"base": "fedacg", "rho_prox": Q(1, 2)}, {"beta": Q(1, 2)}, reference=fedluar_acg,
                            common={"lam": Q(3, 4)}),
    **{f"fedluar, fedmut, {relative}": luar(
        {"base": "fedmut", "relative": relative}, {"relative": relative}, reference=fedluar_mut, more=mutations,
        common={"alpha": Q(1, 2)}) for relative in ("start", "broadcast")},
    "fedluar, fedpaq": luar({"base": "fedpaq", "levels": 4}, {"s": 4}, reference=fedluar_paq, more=tosses,
                            exact=False),
    **{f"fedluar, fedadam, {when}": luar(
        {"base": "fedadam", "eta_g": 0.2, "eps": 0.1, "recycled_object": f"{when}-optimizer"},
        {"eta_s": 0.2, "tau": 0.1, "recycled": when}, reference=fedluar_adam, common={"beta1": 0.5, "beta2": 0.75},
        exact=False) for when in ("pre", "post")},
    **{f"fedluar, drawn, {score}, {count}": luar(
        {"score": score, "recycled": count}, {"score": score}, chance=drawn(count))
       for score in ("keep", "recompute", "oracle") for count in (1, 2)},
    "fedluar, drawn, drop": luar(
        {"mode": "drop", "score": "recompute"}, {"mode": "drop", "score": "recompute"}, chance=drawn(1)),
    "fedluar, inverted": luar({"selector": "inverted"}, {"score": "keep"}, chance=drawn(1, lambda scores: scores)),
    "fedluar, uniform": luar({"selector": "uniform"}, {"score": "keep"}, chance=drawn(1, lambda scores: [1] * len(scores))),
    "fedluar, update norm": luar(
        {"selector": "update-norm"}, {"score": "keep", "by_norm": True}, chance=drawn(1)),
    "fedluar, fedacg, drawn": luar(
        {"base": "fedacg", "rho_prox": 0.5}, {"beta": 0.5, "score": "keep"}, reference=fedluar_acg, chance=drawn(1),
        common={"lam": 0.75}),
}
FEWER = {
    "fedpaq": row("fedpaq", fedpaq, {"levels": 4}, {"s": 4}, common={"eta_g": 0.75}, exact=False, chance=by_layer,
                  layers=SIZES),
    "fedpaq, whole": row("fedpaq", fedpaq, {"levels": 2, "scope": "whole-vector"}, {"s": 2, "layers": [slice(None)]},
                         exact=False, chance=tosses, layers=SIZES),
    "fedpaq, bits": row("fedpaq", fedpaq, {"bits": 3}, {"s": 3}, exact=False, chance=by_layer, layers=SIZES),
    "lbgm": row("lbgm", lbgm, {"threshold": Q(1, 4)}, {"theta": Q(1, 4)}, common={"eta_g": Q(3, 4)}, exact_rounds=6),
    "lbgm, small": row("lbgm", lbgm, {"threshold": Q(1, 64)}, {"theta": Q(1, 64)}, exact_rounds=6),
    "lbgm, always": row("lbgm", lbgm, {"threshold": Q(1)}, {"theta": Q(1)}, exact_rounds=6),
    "feddropoutavg": row("feddropoutavg", feddropoutavg, {"fdr": 0.5}, common={"eta_g": Q(3, 4)}, chance=kept(0.5)),
    "feddropoutavg, clients": row("feddropoutavg", feddropoutavg, {"fdr": 0.25, "cdr": 0.5}, chance=kept(0.25, 0.5)),
    "prunefl": row("prunefl", prunefl, {"density": 0.67}, {"count": 2, "times": (1, 1, 1)}, common={"period": 2},
                   first_samples=-(2**40)),
    "prunefl, times": row(
        "prunefl", prunefl, {"density": 0.34, "times": (Q(1), Q(3, 2), Q(2))}, {"count": 1, "times": (Q(1), Q(3, 2), Q(2))},
        common={"period": 1, "client": 3, "initial_steps": 3}, first_samples=-(2**40)),
    "fedlama": row("fedlama", fedlama, common={"period": 2}, chance=layers, layers=SIZES),
    "fedlama, three layers": row("fedlama", fedlama, common={"period": 3}, chance=layers, layers=BLOCKS),
    "fedmut": row("fedmut", fedmut, common={"alpha": Q(1, 2), "eta_g": Q(3, 4)}, chance=mutations, layers=SIZES,
                  participants=(None, 2, 4)),
    "fedmut, broadcast": row("fedmut", fedmut, {"relative": "broadcast"}, common={"alpha": Q(3, 2)}, chance=mutations,
                             layers=BLOCKS, participants=(4,)),
}
COMMUNICATION = RECYCLING | FEWER
