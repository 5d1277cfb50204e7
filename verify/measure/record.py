"""Records every array of a small run that claims can name."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fedtheory.engine import Observer
from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["FullRecord"]


class FullRecord(Observer):
    """Local models, gradients and participation at every iteration of a run."""

    def __init__(self):
        self.local, self.gradients, self.participations, self.before, self.ends = [], [], [], [], []
        self.states, self.broadcasts, self.held, self.tracked = [], [], [], []
        self.of_norms = False

    def local_iteration(self, context, participation, x_local, gradient):
        self.local.append(x_local)
        self.gradients.append(gradient)
        self.participations.append(participation)

    def start_of_round(self, context, participation):
        self.states.append(context.state)
        self.broadcasts.append(context.x)
        self.of_norms = context.algorithm.client.keeps_numbers

    def local_state(self, context, local):
        self.held.append(local.own)

    def end_of_round(self, context, participation, x_local, state):
        self.before.append(x_local)
        self.ends.append((participation, state.x))
        tracked = context.algorithm.correction.tracking(context)
        self.tracked += [] if tracked is None else [tracked]

    def until(self, rounds: int, local_steps: int, final) -> tuple["FullRecord", Any]:
        """The record of the first rounds, and the state after them; ``final``: the state after all rounds."""
        first, times = FullRecord(), rounds * local_steps
        first.local, first.gradients, first.participations = (
            rows[:times] for rows in (self.local, self.gradients, self.participations))
        first.before, first.ends, first.states, first.broadcasts, first.tracked = (
            rows[:rounds] for rows in (self.before, self.ends, self.states, self.broadcasts, self.tracked))
        first.held, first.of_norms = self.held[: rounds * (local_steps + 1)], self.of_norms
        return first, self.states[rounds] if rounds < len(self.states) else final

    def arrays(self, federation, final, local_steps) -> dict[str, tuple]:
        """name -> (array (runs, indices..., [dim]), number of indices, whether it is a vector)."""
        return {name: make() for name, make in self.later(federation, final, local_steps).items()}

    def later(self, federation, final, local_steps) -> dict[str, Callable[[], tuple]]:
        """name -> function that makes its entry of :meth:`arrays`: most claims name few of them."""
        one = federation.weights * 0 + 1

        def of_times(rows, indices: int, vector: bool):
            return lambda: (namespace(final.x).stack(rows(), axis=1), indices, vector)

        return {
            "x_local": of_times(lambda: [*self.local, final.clients.get("model", federation.all_clients(final.x))], 2, True),
            "x_before": of_times(lambda: self._before_averages(local_steps), 2, True),
            "g": of_times(lambda: self.gradients, 2, True),
            "x": of_times(lambda: self._averages(
                local_steps, lambda number: _mean(self.ends[number][0], self.before[number])), 1, True),
            "x_sampled": of_times(lambda: self._averages(local_steps, lambda number: self.ends[number][1]), 1, True),
            "included": of_times(lambda: self._included(one), 2, False),
            "sampled_weight": of_times(lambda: self._sampled_weights(federation, local_steps), 2, False),
        } | self._by_round(federation, final, one)

    def _before_averages(self, local_steps):
        """Local models at every time, at the ends of rounds those before they are averaged."""
        ends = {number * local_steps: x_local for number, x_local in enumerate(self.before, start=1)}
        return [ends[t] if t in ends else self.local[t] for t in range(len(self.local) + 1)]

    def _averages(self, local_steps, at_the_end_of_round):
        """Averages of the local models at every time; at the ends of rounds ``at_the_end_of_round(number)``."""
        return [at_the_end_of_round(t // local_steps - 1) if t and not t % local_steps
                else _mean(self.participations[t], self.local[t]) for t in range(len(self.local) + 1)]

    def _included(self, one):
        """The clients that take part at every time; at the end of the run, those of the last aggregation."""
        xp, last = namespace(one), self.ends[-1][0]
        return [xp.where(p.included, one, 0 * one) for p in (*self.participations, last)]

    def _sampled_weights(self, federation, local_steps):
        """The weights by which the server averages: at the ends of rounds those of the sampled clients."""
        xp, always = namespace(federation.weights), federation.weights + 0 * self.participations[0].weight
        weights = [always] * (len(self.local) + 1)
        for number, (participation, _) in enumerate(self.ends, start=1):
            total = xp.sum(participation.virtual_weight * federation.priority, axis=-1, keepdims=True)
            weights[number * local_steps] = xp.where(federation.priority, participation.weight / total, always)
        return weights

    def _by_round(self, federation, final, one):
        """Arrays with one entry a round: models, participation, and every array of the method's state."""
        xp, states = namespace(final.x), [*self.states, final]

        def of_truth(rows):
            return lambda: (xp.stack([xp.where(each, one, 0 * one) for each in rows], axis=1), 2, False)

        found = {
            "x_round": lambda: (xp.stack([state.x for state in states], axis=1), 1, True),
            "x_broadcast": lambda: (xp.stack(self.broadcasts, axis=1), 1, True),
            "sampled": of_truth([participation.weight != 0 for participation, _ in self.ends]),
        }
        if self.tracked:
            found["tracked"] = of_truth(self.tracked)
        for owner in ("server", "clients"):
            for name in getattr(states[0], owner):
                rows = [getattr(state, owner)[name] for state in states]
                if all(hasattr(row, "shape") and tuple(row.shape) == tuple(rows[0].shape) for row in rows):
                    found[_prefixed(owner, name)] = partial(_stacked, rows, federation)
                    if self.of_norms and owner == "clients" and rows[0].shape[-1] == 1:  # one number a client
                        found[f"client_scalar_{name}"] = lambda rows=rows: (xp.stack(rows, axis=1)[..., 0], 2, False)
        for name in self.held[0]:
            rows = [own.get(name) for own in self.held]
            if all(row is not None and row.ndim == 3 for row in rows):
                found[_prefixed("local", name)] = partial(_stacked, rows, federation)
        return found


def _mean(participation, x_local):
    return namespace(x_local).sum(participation.virtual_weight[..., None] * x_local, axis=1)


def _prefixed(owner, name):
    prefix = owner.removesuffix("s") + "_"
    return name if name.startswith(prefix) else prefix + name


def _stacked(rows, federation):
    """The arrays one after the other, as numbers; a last axis of ``dim`` entries is a vector."""
    array = namespace(rows[0]).stack(rows, axis=1)
    if not any(kind in str(array.dtype) for kind in ("float", "object")):
        array = federation.backend.array(to_numpy(array).astype(int))
    vector = array.shape[-1] == federation.dim and array.ndim > 2
    return array, array.ndim - 1 - vector, vector
