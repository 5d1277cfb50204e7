"""Keeps everything about a small run that the language of claims can name."""

from __future__ import annotations

from fedtheory.engine import Observer
from synthetic.arrays import namespace, to_numpy

__all__ = ["FullRecord"]


class FullRecord(Observer):
    """Local models, gradients and participation at every iteration of a run."""

    def __init__(self):
        self.local, self.gradients, self.participations, self.before, self.ends = [], [], [], [], []
        self.states, self.broadcasts, self.held, self.tracked = [], [], [], []
        self.of_norms = False

    def local_iteration(self, moment, participation, x_local, gradient):
        self.local.append(x_local)
        self.gradients.append(gradient)
        self.participations.append(participation)

    def start_of_round(self, moment, participation):
        self.states.append(moment.state)
        self.broadcasts.append(moment.x)
        self.of_norms = getattr(moment.algorithm.client, "norm", None) == "scalar"

    def local_state(self, moment, local):
        self.held.append(local.own)

    def end_of_round(self, moment, participation, x_local, state):
        self.before.append(x_local)
        self.ends.append((participation, state.x))
        if hasattr(moment.algorithm.correction, "tracking"):
            self.tracked.append(moment.algorithm.correction.tracking(moment))

    def arrays(self, federation, final, local_steps):
        """name -> (array (runs, indices..., [dim]), number of indices, whether it is a vector)."""
        xp = namespace(final.x)
        steps = len(self.local)
        x_local = [*self.local, federation.all_clients(final.x)]
        x_before, x, x_sampled, weights = [self.local[0]], [], [], []
        start = xp.sum(self.participations[0].virtual_weight[..., None] * self.local[0], axis=1)
        x.append(start)
        x_sampled.append(start)
        weights.append(federation.weights + 0 * self.participations[0].weight)
        for t in range(1, steps + 1):
            if t % local_steps:
                x_before.append(self.local[t])
                average = xp.sum(self.participations[t].virtual_weight[..., None] * self.local[t], axis=1)
                x.append(average)
                x_sampled.append(average)
                weights.append(weights[0])
                continue
            participation, sampled = self.ends[t // local_steps - 1]
            before = self.before[t // local_steps - 1]
            x_before.append(before)
            x.append(xp.sum(participation.virtual_weight[..., None] * before, axis=1))
            x_sampled.append(sampled)
            total = xp.sum(participation.virtual_weight * federation.priority, axis=-1, keepdims=True)
            weights.append(xp.where(federation.priority, participation.weight / total, weights[0]))
        one = federation.weights * 0 + 1
        last = self.ends[-1][0]  # at the end of the run the indicator is the one of the last aggregation
        included = xp.stack([xp.where(p.included, one, 0 * one) for p in (*self.participations, last)], axis=1)
        return {
            "x_local": (xp.stack(x_local, axis=1), 2, True),
            "x_before": (xp.stack(x_before, axis=1), 2, True),
            "g": (xp.stack(self.gradients, axis=1), 2, True),
            "x": (xp.stack(x, axis=1), 1, True),
            "x_sampled": (xp.stack(x_sampled, axis=1), 1, True),
            "included": (included, 2, False),
            "sampled_weight": (xp.stack(weights, axis=1), 2, False),
        } | self._by_round(federation, final, one)

    def _by_round(self, federation, final, one):
        """What has one value a round: models, participation, and every array of the method's state."""
        xp, states = namespace(final.x), [*self.states, final]
        sampled = [xp.where(participation.weight != 0, one, 0 * one) for participation, _ in self.ends]
        found = {
            "x_round": (xp.stack([state.x for state in states], axis=1), 1, True),
            "x_broadcast": (xp.stack(self.broadcasts, axis=1), 1, True),
            "sampled": (xp.stack(sampled, axis=1), 2, False),
        }
        if self.tracked:
            found["tracked"] = (xp.stack([xp.where(each, one, 0 * one) for each in self.tracked], axis=1), 2, False)
        for owner in ("server", "clients"):
            for name in getattr(states[0], owner):
                rows = [getattr(state, owner)[name] for state in states]
                if all(hasattr(row, "shape") and tuple(row.shape) == tuple(rows[0].shape) for row in rows):
                    stacked = xp.stack(rows, axis=1)
                    found |= _named(_prefixed(owner, name), stacked, federation)
                    if self.of_norms and owner == "clients" and stacked.shape[-1] == 1:  # one number a client
                        found[f"client_scalar_{name}"] = (stacked[..., 0], 2, False)
        for name in self.held[0]:
            rows = [own.get(name) for own in self.held]
            if all(row is not None and row.ndim == 3 for row in rows):
                found |= _named(_prefixed("local", name), xp.stack(rows, axis=1), federation)
        return found


def _prefixed(owner, name):
    prefix = owner.removesuffix("s") + "_"
    return name if name.startswith(prefix) else prefix + name


def _named(name, array, federation):
    """``array`` (runs, times, indices..., [dim]) under its name, as numbers; a last axis of ``dim`` entries is a vector."""
    if not any(kind in str(array.dtype) for kind in ("float", "object")):
        array = federation.backend.array(to_numpy(array).astype(int))
    vector = array.shape[-1] == federation.dim and array.ndim > 2
    return {name: (array, array.ndim - 1 - vector, vector)}
