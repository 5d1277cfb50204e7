"""Random runs of methods that adapt on the clients, for the invariants of section 7 of FAdamGC's specification."""

import numpy as np
from hypothesis import strategies as st

from fedtheory import make_algorithm
from synthetic import EnumeratedDraws, GaussianNoise, NoNoise, Quadratic, make_quadratic
from synthetic.numbers.draws import CLIENTS, TRACKERS
from tests.fedtheory.federations import moved, variant
from tests.fedtheory.methods.common import start_of, watch, with_arrays

__all__ = ["Case", "cases", "draws_of", "from_state", "mean_of_active", "scaled_all", "turned"]

from_state = with_arrays


class Case:
    """A method by ``name`` with its ``options``, on a federation."""

    def __init__(self, name, options, federation):
        self.name, self.options, self.federation = name, dict(options), federation

    def __repr__(self):
        return f"{self.name} {self.options} on {self.federation.clients} clients in {self.federation.dim} dimensions"

    @property
    def local_steps(self):
        return self.options["local_steps"]

    @property
    def size(self):
        """How many clients take part."""
        return self.options.get("participants") or self.federation.clients

    def watch(self, rounds=4, *, start=None, draws=None, change=None, **more):
        """Four rounds of the method, with other options on top."""
        method = make_algorithm(self.name, **self.options | more)
        seen = watch(method, self.federation, rounds, start=start, draws=draws, change=change)
        seen.federation = self.federation
        return seen


@st.composite
def cases(
    draw, names, clients=None, participants="any", noise=(0.0, 0.5), y_init=("zero", "gradient", "normalised-gradient"),
    vhat=("reset", "carry", "zero", "none"), norm=("elem", "scalar"),
):
    """A random method of ``names`` with random variants, on random diagonal quadratics.

    ``participants=None``: everybody. ``y_init`` "its own" is the start that scales with the losses as the buffers do.
    """
    name = draw(st.sampled_from(names))
    clients = draw(st.integers(1, 5)) if clients is None else clients
    options = {
        "eta_l": 2.0 ** draw(st.integers(-6, -3)), "local_steps": draw(st.integers(1, 4)),
        "beta1": draw(st.sampled_from([0.0, 0.5, 0.9])), "beta2": draw(st.sampled_from([0.0, 0.5, 0.99])),
        "eps": draw(st.sampled_from([2.0**-4, 1.0])), "eta_g": draw(st.sampled_from([1.0, 0.5, 2.0])),
    }
    if name != "fedlada":
        options |= {
            "vhat": draw(st.sampled_from(vhat)), "store": draw(st.sampled_from(["v", "vhat"])),
            "norm": draw(st.sampled_from(norm)), "moment_index": draw(st.sampled_from(["immediate", "delayed"])),
            "v_init": draw(st.sampled_from([0.0, 0.25])),
        }
    size = clients
    if participants == "any" and name != "fa-nt-z":
        size = draw(st.integers(1, clients))
        options["participants"] = size
    if name in ("fadamgc", "fa-nt", "fa-nt-z"):
        start = draw(st.sampled_from(y_init))
        own = {"fadamgc": "gradient"}.get(name, "normalised-gradient")
        options["y_init"] = own if start == "its own" else start
    if name in ("fadamgc", "fa-nt"):
        options["trackers"] = draw(st.sampled_from([None, *range(size + 1)]))
    dim, seed, sigma = draw(st.integers(1, 4)), draw(st.integers(0, 999)), draw(st.sampled_from(noise))
    spread = {"L": 4.0, "mu": 1.0} if dim > 1 or clients > 1 else {"L": 2.0, "mu": 2.0}
    return Case(name, options, make_quadratic(clients, dim, seed=seed, sigma=sigma, **spread))


def draws_of(sampled, tracking):
    """Draws of one run with these participants and trackers by round."""
    return EnumeratedDraws({CLIENTS: np.array([sampled]), TRACKERS: np.array([tracking])})


def mean_of_active(seen, t):
    """The mean of the local models that enter the average of round ``t``, (runs, dim)."""
    active = seen.active[t][..., None]
    return (seen.ends[t] * active).sum(axis=1) / active.sum(axis=1)


def scaled_all(federation, loss, length):
    """``loss * F(x / length)``, noise included."""
    noise = federation.noise
    if isinstance(noise, GaussianNoise):
        noise = GaussianNoise(noise.scale * (loss / length))
    return variant(federation, curvature=federation.curvature * (loss / length**2), center=federation.center * length,
                   offset=federation.offset * loss, noise=noise)


def turned(federation, Q):
    """``F(Q^T x)`` without noise."""
    assert isinstance(federation.noise, NoNoise) and start_of(federation).shape == (1, len(Q))
    dense = np.einsum("nki,ij->nkij", moved(federation.curvature), np.eye(federation.dim))
    return Quadratic(Q @ dense @ Q.T, moved(federation.center) @ Q.T)
