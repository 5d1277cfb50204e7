"""Piecewise clients whose pieces lie where a run goes: one step ends at a piece's end, or leaps over the whole piece. And
points of claims about losses that lie where pieces end."""

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from synthetic.quadratic.turned import Turned
from verify.evaluation.environment import TooManyTerms, UnboundName
from verify.instances.instance import federation_of
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["KNOTS", "POINTS"]

_SHARE = 0.4  # of the instances of a batch
_POINTS = 0.4  # of the free points lie at an end of a piece, or amid one
_SERVER = 0.5  # of the pieces lie on the server's path, the others on a client's


def _on_path(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Moves one piece, of one client or of all, onto one step of the run, in some instances; slopes and starts stay."""
    try:
        with np.errstate(all="ignore"):
            run = simulate(claim, shape, params, NUMPY, most=MOST_TERMS)
            return _knots_near_step(run, *run.instance, rng)
    except (UnboundName, TooManyTerms):
        return params


KNOTS = Transformation("knots", lambda claim, shape: shape.family.knots > 0 and on_runs(claim, shape), _on_path, share=0.3,
               of_mutations=True)


def _at_knots(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Moves some of the claim's free points to where pieces end."""
    free, count = [v.name for v in claim.variables if v.domain == "vector" and not v.indices], len(params["weight"])
    return params | {name: np.where(rng.random((count, 1)) < _POINTS, shape.family.ends(params, rng), params[name])
                     for name in free}


POINTS = Transformation("points", lambda claim, shape: claim.setting == "point"
                        and isinstance(shape.family, PiecewiseClients),
                _at_knots)


def _knots_near_step(run, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    before, after = _step(run, shape, rng)
    if isinstance(run.federation, Turned):
        before, after = (run.federation.turn(point, back=True) for point in (before, after))
    center, width = params["piece_center"].copy(), params["piece_width"].copy()
    count, clients, pieces = center.shape[:3]
    row = (count, 1, 1, 1)
    at = (before + rng.choice([0.0, 0.5, 1.0], (count, 1)) * (after - before))[:, None, None]
    leaps = rng.random(row) < 0.5
    new_width = np.where(leaps, 0.5 * abs(after - before)[:, None, None] * rng.choice([1.0, 0.1], row), width)
    new_center = np.where(leaps, (0.5 * (before + after))[:, None, None], at + rng.choice([-1.0, 1.0], row) * width)
    moved = (rng.random(row) < _SHARE) & (np.arange(pieces)[:, None] == rng.integers(0, pieces, row))
    moved = moved & ((np.arange(clients)[:, None, None] == rng.integers(0, clients, row)) | (rng.random(row) < 0.5))
    moved = moved & np.isfinite(new_center) & np.isfinite(new_width)
    start = run.federation.x_star + params["start_offset"]
    found = params | {"piece_center": np.where(moved, new_center, center), "piece_width": np.where(moved, new_width, width)}
    found["start_offset"] = start - federation_of(shape, found, NUMPY).x_star
    better = moved.any(axis=(1, 2, 3)) & np.isfinite(found["start_offset"]).all(axis=1)  # else without a minimum
    return params | {name: np.where(better.reshape(-1, *(1,) * (found[name].ndim - 1)), found[name], params[name])
                     for name in ("piece_center", "piece_width", "start_offset")}


def _step(run, shape: Shape, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of one step of each row's run, (rows, dim): of the server over a round, or of a client."""
    rounds, local, last = (run.bound[name].data for name in ("x_round", "x_local", "x_before"))
    count = len(rounds)
    row, noise, drawn = np.arange(count), rng.integers(0, rounds.shape[1], count), rng.integers(0, rounds.shape[2], count)
    number, time = rng.integers(0, shape.rounds, count), rng.integers(0, shape.iterations, count)
    client = rng.integers(0, shape.clients, count)
    server = rounds[row, noise, drawn, number], rounds[row, noise, drawn, number + 1]
    own = local[row, noise, drawn, time, client], last[row, noise, drawn, time + 1, client]
    of_server = rng.random((count, 1)) < _SERVER
    return np.where(of_server, server[0], own[0]), np.where(of_server, server[1], own[1])
