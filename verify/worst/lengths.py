"""Proofs about lengths: a linear program suggests which known inequalities to add, fractions make a proof of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from verify.checker.amounts import LENGTH, Amount, lower, number, row_of, upper
from verify.checker.forms import ORIGIN, Row
from verify.checker.length_rules import Rules, nonnegative
from verify.checker.length_runs import OWN, TWIN

__all__ = ["Found", "found_proofs"]

_ACTIVE = 1e-9
_BELOW = 1 - 1e-6  # a smaller factor that is enough where one is not says that the larger side may be negative
_MOST = 150  # vectors of one program
_ITERATIONS, _TOLERANCE, _INFEASIBLE = 20_000, 1e-9, 2  # of the solver, and its word for no solution
_PASSES = 2  # over all that is to be made up for
_FINEST = 10**18  # denominators of multipliers that are rounded up
_COLUMN, _PART = 1e-3, 1e-2  # what multipliers cost


class Found(NamedTuple):
    """The proof of one pair of sides, None where there is none, and the least factor of the larger side that the program
    proves; NaN where it was not asked for, infinite where none is enough, None where the solver finds no answer."""

    proof: dict[str, Any] | None
    factor: float | None


class _Column(NamedTuple):
    """An amount that is never negative, and what stands for it in a proof."""

    amount: Amount
    kind: str
    entry: Any


def found_proofs(rules: Rules, known: dict[str, Amount], pairs: Sequence[tuple[Amount, Amount]],
                 factor: bool | None = False, proof: bool | None = True) -> list[Found]:
    """For each pair of sides a proof that the first is at most the second, or how much larger the latter would have to be;
    for ``factor`` None the factor is 1 where the program proves that but no fractions are found, for ``proof`` None none are
    looked for.

    Raises:
        ValueError: the program of one pair is too large.
    """
    trivial = {"known": {}, "steps": [], "hits": [], "triangles": []}
    programs = [None if nonnegative(larger - smaller) else _Program(rules, known, smaller, larger)
                for smaller, larger in pairs]
    return [Found(trivial, 1.0) if program is None else program.found(factor, proof) for program in programs]


def _float(value) -> float:
    return float((lower(value) + upper(value)) / 2)


class _Program:
    """The columns of a pair of sides, and the vectors of which triangles are made."""

    def __init__(self, rules: Rules, known: dict[str, Amount], smaller: Amount, larger: Amount):
        self.rules, self.smaller, self.larger = rules, smaller, larger
        self.letters = self._letters(smaller, larger)
        self.columns = [*self._of_names(known), *self._of_gradients()]
        self.rows = self._vectors()
        self.of_key: dict[Any, int] = {}
        for amount in (smaller, larger, *(column.amount for column in self.columns)):
            for key in amount.terms:
                self.of_key.setdefault(key, len(self.of_key))
        self.keys = [self._key(row) for row in self.rows]
        for key in self.keys:
            self.of_key.setdefault(key, len(self.of_key))

    def found(self, factor: bool | None, proof: bool | None) -> Found:
        """What :func:`found_proofs` says of the pair."""
        if not self.rows:
            return Found(None, inf)
        solved, none = self.solve(self.larger - self.smaller) if proof is not False else (None, False)
        found = self.exact(self.larger - self.smaller, *solved) if proof and solved is not None else None
        if found is not None or factor is False:
            return Found(found, float("nan"))
        if factor is None and solved is not None:
            return Found(None, 1.0)
        least = self.factor()
        return Found(None, inf if none and least is not None and least < _BELOW else least)

    def _key(self, row: Row):
        (key,) = self.rules.length(row).terms
        return key

    def _letters(self, *sides: Amount) -> set[int]:
        """The letters of the sides, and those on whose gradients' points they stand."""
        points = {next(iter(g.terms)): x for seen in self.rules.points.values() for x, g in seen}
        twins = {}
        for swap in self.rules.swaps.values():
            for one, other in swap.items():
                twins.setdefault(one, set()).add(other)
        found: set[int] = set()
        waiting = [letter for side in sides for key in side.terms if key and key[0] in ("length", "square")
                   for letter, _ in key[1]]
        if any(key and key[0] in ("signed", "gap") for side in sides for key in side.terms):
            waiting += [letter for _, outcome in self.rules.outcomes() for name in ("x_round", "twin_x_round")
                        for letter in self.rules.run(outcome).record[name][-1].terms]
        while waiting:
            letter = waiting.pop()
            if letter in found or letter == ORIGIN:
                continue
            found.add(letter)
            waiting += [*points[letter].terms] if letter in points else []
            waiting += [*twins.get(letter, ())]
        both = {function[1:] for function, seen in self.rules.points.items() if function[0] == TWIN
                for _, g in seen if {*g.terms} <= found}
        return found | {next(iter(g.terms)) for function, seen in self.rules.points.items() for x, g in seen
                        if function[0] == OWN and function[1:] in both and {*x.terms} - {ORIGIN} <= found}

    def _inside(self, amount: Amount) -> bool:
        return all(letter in self.letters for key in amount.terms if key and key[0] == LENGTH for letter, _ in key[1])

    def _of_names(self, known) -> Iterator[_Column]:
        for name, amount in known.items():
            if self._inside(amount):
                yield _Column(amount, "known", name)

    def _coefficients(self) -> dict[int, Fraction]:
        """The largest coefficient of each letter in points and in what is compared: for a gradient the size of its step."""
        rows = [x.terms for seen in self.rules.points.values() for x, _ in seen]
        run = self.rules.stated["setting"] == "run"
        if not run:
            rows += [dict(key[1]) for side in (self.smaller, self.larger) for key in side.terms if key and key[0] == LENGTH]
        for _, outcome in self.rules.outcomes() if run else ():
            record = self.rules.run(outcome).record
            for name in ("x_before", "twin_x_before"):
                rows += [row.terms for models in record.get(name, []) for row in models]
        found: dict[int, Fraction] = {}
        for row in rows:
            for letter, c in row.items():
                found[letter] = max(found.get(letter, Fraction(0)), abs(c))
        return found

    def _ratios(self, letters, sizes) -> set[tuple[Fraction, Fraction]]:
        """Numbers (a, s) of which a (x - y) - s (gradients) may occur."""
        found = {(Fraction(0), Fraction(1))}
        for letter in letters:
            s = sizes.get(letter, Fraction(0))
            if s:
                found.add((Fraction(1), s))
                for option in self.rules.how["options"].values():
                    if isinstance(option, dict):
                        pull = self.rules.given.get(option["symbol"])
                        if isinstance(pull, Fraction) and pull * s != 1:
                            found.add((1 - s * pull, s))
        return found

    def _of_gradients(self) -> Iterator[_Column]:
        rules, sizes = self.rules, self._coefficients()
        numbers = {function: place for place, function in enumerate(rules.points)}
        for function, seen in rules.points.items():
            here = [i for i, (_, g) in enumerate(seen) if next(iter(g.terms)) in self.letters]
            if rules.curvatures(function) is None:
                continue
            for i in here:
                for j in here:
                    if i >= j or not (seen[i][0] - seen[j][0]).terms:
                        continue
                    letters = [next(iter(seen[n][1].terms)) for n in (i, j)]
                    for a, s in self._ratios(letters, sizes):
                        entry = [numbers[function], i, j, str(a), str(s)]
                        yield _Column(rules.step(function, i, j, a, s), "steps", entry)
            twin = (TWIN, *function[1:])
            if function[0] != OWN or twin not in rules.points or rules.pathwise:
                continue
            for i in here:
                for j, (y, h) in enumerate(rules.points[twin]):
                    x, g = seen[i]
                    if next(iter(h.terms)) not in self.letters or function[1:] in rules.depends(x) | rules.depends(y):
                        continue
                    for a, s in self._ratios([next(iter(g.terms)), next(iter(h.terms))], sizes):
                        for by in ("bound", "length"):
                            try:
                                amount = rules.hit(function[1:], i, j, a, s, by)
                            except ValueError:
                                continue
                            yield _Column(amount, "hits", [numbers[function], i, j, str(a), str(s), by])

    def _vectors(self) -> list[Row]:
        """What has a length, once up to sign and factor."""
        amounts = [self.smaller, self.larger, *(column.amount for column in self.columns)]
        keys = dict.fromkeys(key[1] for amount in amounts for key in amount.terms if key and key[0] == LENGTH)
        rows = [row_of(items) for items in keys if all(letter in self.letters for letter, _ in items)]
        rows += [Row({letter: Fraction(1)}) for letter in sorted(self.letters)]
        seen, found = set(), []
        for row in rows:
            first = row.terms[min(row.terms)]
            items = tuple(sorted((letter, c / first) for letter, c in row.terms.items()))
            if items not in seen:
                seen.add(items)
                found.append(row_of(items))
        if len(found) > _MOST:
            raise ValueError(f"{len(found)} vectors; at most {_MOST} are looked at")
        return found

    def _uses(self) -> tuple[np.ndarray, np.ndarray]:
        """Which vectors triangles are of, and which are their parts: the lengths that something takes, and those that
        something leaves. A triangle of another vector could be put into those of which it is a part, but where two vectors
        are alike in length."""
        taken, left = set[Any](), set[Any]()
        for amount, sign in ((self.smaller, -1), (self.larger, 1), *((column.amount, -1) for column in self.columns)):
            for key, c in amount.terms.items():
                (left if sign * _float(c) > 0 else taken).add(key)
        twice = {key for key, count in Counter(self.keys).items() if count > 1}
        return tuple(np.array([key in some or key in twice for key in self.keys], bool).nonzero()[0] for some in (taken, left))

    @cached_property
    def matrix(self):
        """What each column takes from the keys, and the equations of triangles: of each vector its parts, with either sign,
        less a multiple of it, vanish. Columns: those of ``columns``, multiples of vectors, their parts."""
        first, letters = len(self.columns), {letter: place for place, letter in enumerate(sorted(self.letters))}
        vectors, height = np.zeros((len(letters), len(self.rows))), len(self.of_key)
        for place, row in enumerate(self.rows):
            for letter, c in row.terms.items():
                vectors[letters[letter], place] = float(c)
        wholes, parts = self._uses()
        turn, part = (side.ravel() for side in np.meshgrid(np.arange(len(wholes)), parts, indexing="ij"))
        proper = wholes[turn] != part  # no vector is a part of itself
        self.wholes, self.turn, self.part = wholes, turn[proper], part[proper]
        count, pairs, of_row = len(wholes), len(self.part), np.array([self.of_key[key] for key in self.keys], int)
        entries = [(self.of_key[key], place, _float(c)) for place, column in enumerate(self.columns)
                   for key, c in column.amount.terms.items()]
        takes, places, numbers = (np.array(each) for each in zip(*entries, strict=True)) if entries else np.zeros((3, 0), int)
        largest = np.abs(vectors).max(axis=0)
        self.units = np.ones(height)  # by which rows are multiplied, so that all lengths are about one
        self.units[of_row] = largest
        if () in self.of_key:
            constants = [_float(column.amount.terms[()]) for column in self.columns if () in column.amount.terms]
            self.units[self.of_key[()]] = 1 / max((abs(c) for c in constants if c), default=1.0)
        numbers = numbers * self.units[takes]
        own_units = np.full(first, 1e-300)
        np.maximum.at(own_units, places, np.abs(numbers))
        of_parts = 1 / largest[self.part]
        self.scales = np.concatenate([1 / own_units, 1 / largest[wholes], of_parts, of_parts])  # of what is solved for
        after = first + count
        width = after + 2 * pairs
        numbers = np.concatenate([numbers, np.full(count, -1.0) * self.units[of_row[wholes]],
                                  *[self.units[of_row[self.part]]] * 2])
        takes = np.concatenate([takes, of_row[wholes], *[of_row[self.part]] * 2])
        places = np.concatenate([places, np.arange(first, width)])
        A = sparse.csc_matrix((numbers * self.scales[places], (takes, places)), shape=(height, width))
        of_whole, whole_letters = vectors.T[wholes].nonzero()
        of_part, part_letters = vectors.T[self.part].nonzero()
        rows = np.concatenate([of_whole * len(letters) + whole_letters, *[self.turn[of_part] * len(letters) + part_letters] * 2])
        places = np.concatenate([first + of_whole, after + of_part, after + pairs + of_part])
        numbers = vectors[part_letters, self.part[of_part]]
        numbers = np.concatenate([-vectors[whole_letters, wholes[of_whole]], numbers, -numbers])
        E = sparse.csc_matrix((numbers * self.scales[places], (rows, places)), shape=(count * len(letters), width))
        return A, E

    def _gap(self, amount: Amount, end) -> np.ndarray:
        found = np.zeros(len(self.of_key))
        for key, c in amount.terms.items():
            found[self.of_key[key]] = float(end(c))
        return found * self.units

    def _solved(self, cost, A, b, E):
        """(solution, whether there is none) of a program whose variables are not negative; None where none is found."""
        size = np.abs(b).max(initial=0) or 1.0
        found = linprog(cost, A_ub=A, b_ub=b / size, A_eq=E, b_eq=np.zeros(E.shape[0]), method="highs-ds",
                        options={"maxiter": _ITERATIONS, "presolve": False, "primal_feasibility_tolerance": _TOLERANCE,
                                 "dual_feasibility_tolerance": _TOLERANCE})
        return (found.x * size if found.status == 0 else None), found.status == _INFEASIBLE

    def solve(self, gap: Amount):
        """Multipliers of columns, and parts of triangles by vector, None where none are found; whether there are none."""
        A, E = self.matrix
        cost = np.full(A.shape[1], _PART)
        cost[: len(self.columns)] = _COLUMN
        found, none = self._solved(cost, A, self._gap(gap, lower), E)
        if found is None:
            return None, none
        everything = found * self.scales
        return (everything[: len(self.columns)], everything), False

    def factor(self) -> float | None:
        """The least factor of the larger side that is proven; infinite where none is, None where none is found."""
        A, E = self.matrix
        larger, smaller = self._gap(self.larger, lower), self._gap(self.smaller, upper)
        size = np.abs(larger).max(initial=0) or 1.0
        cost = np.full(A.shape[1] + 1, 1e-9)
        cost[-1] = 1.0
        found, none = self._solved(cost, sparse.hstack([A, sparse.csr_matrix(-larger[:, None] / size)]), -smaller,
                                   sparse.hstack([E, sparse.csr_matrix((E.shape[0], 1))]))
        return inf if none else None if found is None else float(found[-1]) / size

    # fractions -------------------------------------------------------------------------------------------------------------
    def exact(self, gap: Amount, multipliers: np.ndarray, everything: np.ndarray) -> dict[str, Any] | None:
        """A proof in fractions from the solver's multipliers."""
        size = np.abs(self._gap(gap, lower)).max(initial=0) or 1.0
        active = [(column, float(times)) for column, times, unit in zip(
            self.columns, multipliers, self.scales[: len(self.columns)] * size, strict=True) if times > _ACTIVE * unit]
        first, after = len(self.columns), len(self.columns) + len(self.wholes)
        plus, minus = everything[after:].reshape(2, -1)
        for turn, (v, times) in enumerate(zip(self.wholes, everything[first:after], strict=True)):
            if times <= _ACTIVE * self.scales[first + turn] * size:
                continue
            own = self.turn == turn
            parts, here = (plus[own] - minus[own]) / times, self.part[own]
            used = np.abs(parts) > 1e-7 * self.scales[after:][: len(own)][own] / self.scales[first + turn]
            solved = _combination([self.rows[u] for u in here[used]], self.rows[v], parts[used])
            if solved is None:
                return None
            made = [(self.rows[u], c) for u, c in zip(here[used], solved, strict=True) if c]
            entry = [_written(self.rows[v]), [[_written(row), str(c)] for row, c in made]]
            active.append((_Column(self.rules.triangle(self.rows[v], made), "triangles", entry), float(times)))
        times = _substituted(gap, [column.amount for column, _ in active], [weight for _, weight in active])
        if times is None:
            return None
        proof: dict[str, Any] = {"known": {}, "steps": [], "hits": [], "triangles": []}
        for (column, _), number_ in zip(active, times, strict=True):
            if number_ == 0:
                continue
            if column.kind == "known":
                proof["known"][column.entry] = str(number_)
            else:
                proof[column.kind].append([*column.entry, str(number_)])
        return proof


def _written(row: Row):
    return [[letter, str(c)] for letter, c in sorted(row.terms.items())]


def _combination(parts: list[Row], whole: Row, near) -> list[Fraction] | None:
    """The coefficients, near the given ones, of which the parts sum to the whole; None where there are none."""
    letters = sorted({letter for row in (*parts, whole) for letter in row.terms})
    rows = [[row.terms.get(letter, Fraction(0)) for row in parts] + [whole.terms.get(letter, Fraction(0))]
            for letter in letters]
    pivots: dict[int, list[Fraction]] = {}
    for row in rows:
        for column, other in pivots.items():
            if row[column]:
                row = [a - row[column] * b for a, b in zip(row, other, strict=True)]
        lead = max((n for n in range(len(parts)) if row[n]), key=lambda n: abs(near[n]), default=None)
        if lead is None:
            if row[-1]:
                return None
            continue
        row = [a / row[lead] for a in row]
        for column, other in pivots.items():
            if other[lead]:
                pivots[column] = [a - other[lead] * b for a, b in zip(other, row, strict=True)]
        pivots[lead] = row
    free = {n: Fraction(float(near[n])).limit_denominator(10**4) for n in range(len(parts)) if n not in pivots}
    return [free[n] if n in free else pivots[n][-1] - sum((pivots[n][m] * c for m, c in free.items()), Fraction(0))
            for n in range(len(parts))]


def _substituted(gap: Amount, amounts: list[Amount], weights: list[float]) -> list[Fraction] | None:
    """Multipliers of amounts that leave nothing negative of a gap: every negative coefficient is made up for by the amounts
    that bound it, in proportion to the weights; None where that does not end."""
    shares: dict[Any, dict[int, Fraction]] = {}
    for place, (amount, weight) in enumerate(zip(amounts, weights, strict=True)):
        for key, c in amount.terms.items():
            if key and (_float(c) < 0):
                shares.setdefault(key, {})[place] = Fraction(-_float(c) * weight)
    for own in shares.values():
        total, rest, most = sum(own.values()), Fraction(1), max(own, key=lambda place: own[place])
        for place in own:
            own[place] = (own[place] / total).limit_denominator(1000)
        own[most] += rest - sum(own.values())
    times = [Fraction(0)] * len(amounts)
    for key in _order(shares, amounts) * _PASSES:
        short = -lower(gap.terms.get(key, Fraction(0)))
        for place, share in shares[key].items() if short > 0 else ():
            more = short * share / -upper(number(amounts[place].terms[key]))
            if more.denominator > _FINEST**2:
                more = Fraction(-(-more.numerator * _FINEST // more.denominator), _FINEST)
            times[place] += more
            gap = gap - amounts[place] * more
    return times if nonnegative(gap) else None


def _order(shares, amounts) -> list[Any]:
    """The keys, each before those that making up for it takes from, where these do not run in a circle."""
    found: list[Any] = []
    begun: set[Any] = set()
    waiting: list[tuple[Any, bool]] = [(key, False) for key in shares]
    while waiting:
        key, done = waiting.pop()
        if done:
            found.append(key)
        elif key not in begun:
            begun.add(key)
            waiting.append((key, True))
            waiting += [(other, False) for place in shares[key] for other, c in amounts[place].terms.items()
                        if other in shares and _float(c) > 0 and other not in begun]
    return found[::-1]
