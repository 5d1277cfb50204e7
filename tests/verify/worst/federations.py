"""Letters on a federation: every vector and number of a proof has a value, by which what is known of it can be tested.

Shares nothing with the checker but the rows and forms to which it gives values.
"""

from typing import Any

import numpy as np

from verify.checker.quadratic_forms import LAYER, LOSS, ORIGIN, SCENARIO, QuadraticForm, SymbolicVector
from verify.symbolic.symbolic_run import SymbolicRun

__all__ = ["Federation", "Values"]

_AXES = 60  # of arrays of NumPy, less a few


def _row(said):
    over, parts = said
    return SymbolicVector.reduced(dict(parts), over)


class Federation:
    """Clients F_k(x) = sum over coordinates of a x^2/2 + b phi(w x)/w^2 + c x, with least mean at 0.

    phi is 1 - cos, so that curvatures lie between a - b and a + b; or sqrt(1 + u^2) - 1 with a = 0, whose slopes are
    bounded. Noise depends on the point. ``sigma[k]``: the root of its variance.
    """

    def __init__(self, rng: np.random.Generator, low: float, high: float, clients: int, bounded: bool, layers: int = 1):
        self.dim, self.bounded = int(rng.integers(layers, layers + 3)), bounded
        self.layer = np.arange(self.dim) % layers
        shape = clients, self.dim
        middle = rng.uniform(max(low, 0) if bounded else low, high, shape)
        self.a = np.where(rng.random(shape) < 0.3, np.where(rng.random(shape) < 0.5, low, high), middle)
        self.a = np.where(self.a.mean(axis=0) < 0, abs(self.a).clip(max(low, 0), high), self.a)
        self.b = np.minimum(self.a - low, high - self.a) * rng.choice([0, 1, rng.random()], shape)
        if bounded:
            self.a, self.b = np.zeros(shape), self.a.clip(0.1 * high)
        self.c, self.w = rng.normal(size=shape) * rng.choice([0, 1, 3]), rng.uniform(0.3, 3, self.dim)
        self.c -= self.c.mean(axis=0)
        self.sigma = rng.choice([0.0, 1.0, 2.0], clients)

    def value(self, k, x):
        u = self.w * x
        phi = np.sqrt(1 + u**2) - 1 if self.bounded else 1 - np.cos(u)
        return (self.a[k] * x**2 / 2 + self.b[k] * phi / self.w**2 + self.c[k] * x).sum(-1)

    def gradient(self, k, x):
        u = self.w * x
        return self.a[k] * x + self.b[k] * (u / np.sqrt(1 + u**2) if self.bounded else np.sin(u)) / self.w + self.c[k]

    def noise(self, k, x, drawn):
        """``drawn``: numbers of mean 0 and variance 1."""
        direction = np.stack([np.cos(x[..., 0]), *(np.sin(x[..., 0]) for _ in range(self.dim - 1))], axis=-1)
        return self.sigma[k] * drawn * direction / max(self.dim - 1, 1) ** 0.5

    def solution(self, k, point, pull):
        """Where v + gradient(v) / pull = point, by bisection."""
        low, high = point - 1e3, point + 1e3
        for _ in range(100):
            middle = (low + high) / 2
            above = middle + self.gradient(k, middle) / pull > point
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return low

    def least(self, k):
        """The least value of a client, or less."""
        lines = np.linspace(-30, 30, 6001)[:, None, None] * np.eye(self.dim)  # (points, coordinates, dim)
        return self.value(k, lines).min(axis=0).sum() - 0.01

    def everywhere(self) -> dict[str, float | np.ndarray]:
        """Constants that bound gradients, and how far they are apart, at all points: of clients with bounded slopes."""
        steepest = ((self.b / self.w + abs(self.c)) ** 2).sum(axis=1) ** 0.5
        spread = abs(self.b - self.b.mean(axis=0)) / self.w + abs(self.c)
        apart = (spread**2).sum(axis=1)
        return {"G_lip": (steepest + self.sigma).max(), "sigma_g": (apart**0.5).mean(), "sigma_g_1": (apart**0.5).mean(),
                "sigma_g_2": apart.mean() ** 0.5, "sigma_g_max": apart.max() ** 0.5, "sigma_g_client": apart**0.5}


class Values:
    """The values of all letters: arrays with one axis of two outcomes for each draw of noise, and one of coordinates.

    ``past``: given is what is drawn before this round, one of its outcomes, with the choices that it made. Choices are
    random functions of the noise that is drawn before them."""

    def __init__(self, letters: SymbolicRun, federation: Federation, rng: np.random.Generator, rare: float, past: Any = -1):
        self.letters, self.federation, self.chances = letters, federation, np.array([rare, 1 - rare])
        draws = {next(iter(row.terms)): (k, x, place) for place, ((k, *_), seen) in enumerate(letters.noises.items())
                 for row, _, x in seen}
        means = {next(iter(mean.terms)): (of, r) for (of, r), mean in letters.conditional.items()}
        self.rounds = [draw[1] for _, *draw in letters.noises]
        past_round, made = (past.round, dict(past.given)) if hasattr(past, "given") else (past, {})
        self.given = {axis: int(rng.integers(2)) for axis, r in enumerate(self.rounds) if r < past_round}
        assert len(self.rounds) < _AXES
        asked = {next(iter(g.terms)): (k, x) for k, points in enumerate(letters.points) for x, g, _ in points
                 if g.terms and {i % LAYER for i in g.terms} == {next(iter(g.terms))} and {*g.terms.values()} == {1}}
        made = {next(iter(row.terms)): (word, [*map(_row, parts)])
                for (word, *parts), row in letters.functions.items()}
        made |= {next(iter(row.terms)): ("scaled", [u, _row(w), a]) for (w, a), asked in letters.quotients.items()
                 for u, row in asked.values() if {*row.terms.values()} == {1} and len(row.terms) == 1}
        drawn, self.axes = np.array([self.chances[1], -self.chances[0]]) / (rare * (1 - rare)) ** 0.5, len(self.rounds)
        self.vectors: list[np.ndarray] = []
        for letter in range(len(letters.depends)):
            if letter in draws:
                k, x, place = draws[letter]
                here = np.moveaxis(drawn.reshape(2, *[1] * self.axes), 0, place)
                found = federation.noise(k, self.vector(x), here)
            elif letter in made:
                found = self.by_coordinate(*made[letter])
            elif letter in means:
                of, r = means[letter]
                found = self.averaged(self.vectors[of], r)
            elif letter in asked:
                k, x = asked[letter]
                found = federation.gradient(k, self.point(k, x, letter))
            else:
                found = rng.normal(size=(*[1] * self.axes, federation.dim)) * 3
            self.vectors.append(found)
        self.numbers: dict[Any, Any] = {f"{name} {k}": value for k in range(len(letters.points)) for name, value in (
            ("sigma_sq_client", federation.sigma[k] ** 2), ("sigma_g_client", federation.everywhere()["sigma_g_client"][k]))}
        self.numbers |= {name: value for name, value in federation.everywhere().items() if name != "sigma_g_client"}
        self.numbers |= {f"{name}^2": value**2 for name, value in self.numbers.items()}
        self.numbers[()] = 1.0
        for k, points in enumerate(letters.points):
            self.numbers[f"least F {k}"] = federation.least(k)
            for x, _, value in points:
                self.numbers[next(iter(value.terms))] = federation.value(k, self.vector(x))
        self.worlds = self.chosen(rng, made)
        for name in [key for form in letters.largest.values() for key in form.terms if str(key).startswith(f"{LOSS}any")]:
            bounds = [form for form in letters.largest.values() if name in form.terms]
            parts = [sum(-float(c / form.terms[name]) * self.random(key) for key, c in form.terms.items() if key != name)
                     for form in bounds]
            self.numbers[name] = (np.max if bounds[0].terms[name] > 0 else np.min)(np.broadcast_arrays(*parts), axis=0)

    def by_coordinate(self, word, args) -> np.ndarray:
        """A function of vectors by coordinates, 0/0 = 0."""
        parts = [self.vector(arg) if isinstance(arg, SymbolicVector) else float(arg) for arg in args]
        match word:
            case "one":
                return np.ones((*[1] * self.axes, self.federation.dim))
            case "square":
                return parts[0] ** 2
            case "root":
                return np.sqrt(parts[0])
            case "upper":
                return np.max(np.broadcast_arrays(*parts), axis=0)
            case "raised":
                return parts[0] + parts[1]
        above, below = np.broadcast_arrays(parts[0], parts[1] + parts[2])
        return np.divide(above, below, out=np.zeros(above.shape), where=(above != 0) | (below != 0))

    def chosen(self, rng, made) -> list[np.ndarray]:
        """Whether each world comes about, by the draws of noise."""
        before = [self.letters.chosen_before[next(iter(seen[0][0].terms))] for seen in self.letters.noises.values()]
        counts, tables = dict(self.letters.draws), []
        for place, draw in enumerate(self.letters.choices):
            shape = [2 if count <= place else 1 for count in before]
            tables.append(np.full(shape, made[draw]) if draw in made else rng.integers(counts[draw], size=shape))
        found = []
        for way in self.letters.ways:
            values = self.letters.values_of(way)
            true = np.ones([1] * self.axes)
            for draw, table in zip(self.letters.choices, tables, strict=True):
                true = true * (table == values[draw])
            found.append(true)
        return found

    def point(self, k, x: SymbolicVector, letter: int) -> np.ndarray:
        """A point, also one at which a local problem is solved, which is given by its own gradient."""
        if letter not in x.terms:
            return self.vector(x)
        others = self.vector(SymbolicVector({other: c for other, c in x.terms.items() if other % LAYER != letter}))
        return self.federation.solution(k, others, -1 / float(x.terms[letter]))

    def letter(self, i) -> np.ndarray:
        """A letter's part in its layer."""
        found = self.vectors[i % LAYER]
        return found if len(self.letters.layers) == 1 else found * (self.federation.layer == i % SCENARIO // LAYER)

    def vector(self, row: SymbolicVector) -> np.ndarray:
        zero = np.zeros((*[1] * self.axes, self.federation.dim))
        return sum((float(c) * self.letter(letter) for letter, c in row.terms.items() if letter != ORIGIN), zero)

    def averaged(self, array: np.ndarray, r: int) -> np.ndarray:
        """The mean over all draws from a round on."""
        for axis, drawn_in in enumerate(self.rounds):
            if drawn_in >= r and array.shape[axis] > 1:
                array = np.moveaxis(np.tensordot(self.chances, np.moveaxis(array, axis, 0), 1)[None], 0, axis)
        return array

    def mean(self, array: np.ndarray) -> float:
        """The expectation, given what is given, of an array with an axis for each draw."""
        for axis in range(self.axes):
            if len(array) == 1:
                array = array[0]
            else:
                array = array[self.given[axis]] if axis in self.given else np.tensordot(self.chances, array, 1)
        return float(array)

    def number(self, form: QuadraticForm) -> tuple[float, float]:
        """The value of a form, and the sum of its terms' absolute values."""
        terms = [float(c) * self.mean(self.random(key)) for key, c in form.terms.items()]
        return sum(terms), sum(map(abs, terms))

    def random(self, key) -> np.ndarray:
        """What stands under a key of a form, an array with an axis for each draw."""
        world = key[0] // SCENARIO if isinstance(key, tuple) and key else int(str(key).partition(" @")[2] or 0)
        if world:
            if isinstance(key, tuple):
                plain = (key[0] % SCENARIO, key[1] % SCENARIO)
            else:
                plain = key.partition(" @")[0]
                if plain == f"{LOSS}chance":
                    plain = ()
                elif plain not in self.numbers:
                    plain = plain.removeprefix(LOSS)
            return self.random(plain) * self.worlds[world - 1]
        if isinstance(key, tuple) and key:
            one, other = map(self.letter, key)
            return (one * other).sum(-1)
        return np.asarray(self.numbers[key], dtype=float) * np.ones([1] * self.axes)
