"""Facts about norms that hold for any federation of the class: numbers that are never negative. docs/certificates.md derives
them."""

from fractions import Fraction
from functools import cache, cached_property

from verify.checker.limits import parse_number
from verify.checker.operators import COMPARE, require
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector
from verify.symbolic.length_runs import OWN, SHARED, TWIN
from verify.symbolic.lengths import CLASS, Lengths, bounds_client
from verify.symbolic.norm_expressions import (
    GAP,
    LENGTH,
    NONNEGATIVE,
    SIGNED,
    SQUARE,
    NormExpression,
    lower,
    number,
    root_above,
    total,
    upper,
)


class Rules(Lengths):
    """A run on letters with what is known of its lengths.

    ``known()`` are amounts by name; :meth:`triangle`, :meth:`step` and :meth:`hit` make more of vectors and numbers that a
    proof chooses. In a statement without expectations only what holds for every outcome of chance is known."""

    def __init__(self, *given):
        self.apart_at, self.expansion = {}, cache(self.expansion)
        super().__init__(*given)

    # for every vector and number -------------------------------------------------------------------------------------------
    def triangle(self, row, parts):
        """|v| <= sum of |c| |u| where v is the sum of the c u."""
        whole = sum((part * c for part, c in parts), SymbolicVector({}))
        require(whole.equals(row), "the parts of a triangle inequality sum to the whole")
        return total(*((self.length(part), abs(c)) for part, c in parts), (self.length(row), -1))

    def step_lengths(self, function, i, other, j, a, s):
        """The lengths of a (x - y) - s (grad f(x) - grad h(y)), and of x - y."""
        (x, g), (y, h), key = self.points[function][i], self.points[other][j], (function, i, other, j)
        if key not in self.apart_at:
            self.apart_at[key] = x - y, g - h, self.length(x - y), {}
        apart, turned, length, found = self.apart_at[key]
        if (a, s) not in found:
            found[a, s] = self.length(apart * a - turned * s)
        return found[a, s], length

    def expansion(self, function, a, s):
        """The Lipschitz constant of a - s grad f."""
        found = self.curvatures(function)
        require(found is not None, f"nothing is known of the curvature of {function}")
        return max(abs(a - s * bend) for bend in found)

    def step(self, function, i, j, a, s):
        """|a (x - y) - s (grad f(x) - grad f(y))| <= max(|a - s m|, |a - s L|) |x - y|, f having curvatures from m to L."""
        moved, apart = self.step_lengths(function, i, function, j, a, s)
        return total((apart, self.expansion(function, a, s)), (moved, -1))

    def hit(self, draw, i, j, a, s, by):
        """The step inequality for the gradients of both runs at x and y, which differ where the draw takes the replaced
        sample: for one draw of n, whatever happened before."""
        require(self.coupled and not self.pathwise, "only expectations know how often a sample is drawn")
        function, twin = (OWN, *draw), (TWIN, *draw)
        (x, g), (y, h) = self.points[function][i], self.points[twin][j]
        random = any(draw in self.upstream[letter] for letter in (*x.parts, *y.parts) if letter != ORIGIN)
        require(not random, "the models must not depend on the draw")
        n, (moved, apart) = Fraction(self.size["samples"]), self.step_lengths(function, i, twin, j, a, s)
        if by == "bound":
            own = [NormExpression({(): 2 * upper(self.lipschitz())})]
        else:
            require(by == "length" and self.how["replaced"] == "random", "lengths of gradients depend on a given sample")
            require((draw, x.key, g.key, draw, y.key, h.key) in self.together,
                    "the gradients are those of both runs at the same time")
            own = [self.length(g), self.length(h)]
        rho = self.expansion(function, a, s)
        return total((apart, rho * (1 - 1 / n) + abs(a) / n), *((length, abs(s) / n) for length in own), (moved, -1))

    @cached_property
    def together(self):
        """The pairs of gradients that both runs take at the same time: draw, point and gradient of either."""
        return {tuple(part if isinstance(part, tuple) else part.key for part in (*own, *twin))
                for _, outcome in self.outcomes() for own, twin in self.run(outcome).pairs}

    # by name ---------------------------------------------------------------------------------------------------------------
    def facts(self):
        """Amounts that are never negative, by name. A hypothesis that these numbers do not meet raises ValueError; one that
        is not linear in lengths is left out, which assumes less."""
        found = {}
        for place, rule in enumerate(self.hypotheses):
            if bounds_client(rule) not in CLASS and place not in self.definers:
                found |= self.hypothesis(place, rule)
        for name in self.stated["everywhere"]:
            require(name in BOUNDS, f"{name} bounds nothing at all points")
            found |= getattr(self, "slopes" if name == "G_lip" else "alike")(name)
        if not self.pathwise:
            for draw, noise in self.noises.items():
                if (square := self.bounds["sigma_sq_client"][draw[-1]]) is not None:
                    largest = NormExpression({(): root_above(square)})
                    found[f"noise {' '.join(map(str, draw))}"] = largest - self.length(noise)
        return found | self.of_coupled() if self.coupled else found

    def lipschitz(self):
        """The bound on all gradients of samples."""
        require("G_lip" in self.stated["everywhere"], "no hypothesis bounds all gradients")
        return number(self.given["G_lip"])

    def slopes(self, name):
        """Gradients of samples, and so of clients, are at most G; where noise is added, the sums are."""
        bound, found = NormExpression({(): upper(self.lipschitz())}), {}
        for function, seen in self.points.items():
            for i, (_, g) in enumerate(seen):
                found[f"slope {' '.join(map(str, function))} {i}"] = bound - self.length(g)
        if not self.coupled:
            for draw, noise in self.noises.items():
                for i, (_, g) in enumerate(self.points.get((SHARED, draw[-1]), [])):
                    found[f"slope of {' '.join(map(str, draw))} {i}"] = bound - self.length(g + noise)
        return found

    def alike(self, name):
        """Gradients of all clients at a point where all were asked for are near their mean."""
        found, bound = {}, self.given[name]
        for count, (x, _) in enumerate(self.points.get((SHARED, 0), [])):
            rows = [[g for y, g in self.points.get((SHARED, k), []) if y.equals(x)] for k in self.all]
            if not all(rows):
                continue
            mean = sum((g * p for (g, *_), p in zip(rows, self.p, strict=True)), SymbolicVector({}))
            apart = [self.length(g - mean) for g, *_ in rows]
            if name in ("sigma_g", "sigma_g_1", "sigma_g_2"):
                total = sum((a * p for a, p in zip(apart, self.p, strict=True)), NormExpression({}))
                found[f"{name} {count}"] = NormExpression({(): upper(number(bound))}) - total
            else:
                for k in self.all:
                    of_one = bound if name == "sigma_g_max" else bound[k]
                    found[f"{name} {count} {k}"] = NormExpression({(): upper(number(of_one))}) - apart[k]
        return found

    def hypothesis(self, place, rule):
        """The nonnegative norm expressions that one hypothesis implies."""
        if self.pathwise and any(True in self.places(rule[side]) for side in ("left", "right")):
            return {}
        try:
            found, pairs = {}, self.compared(rule)
        except (NotQuadratic, LookupError):
            return {}
        for count, (smaller, larger) in enumerate(pairs):
            gap = larger - smaller
            if {*gap.terms} <= {()}:
                require(COMPARE["<" if rule["relation"] in ("<", ">") else "<="](0, number(gap)),
                        f"a hypothesis fails at these numbers: {rule['text']}")
                continue
            squares = [key for key in gap.terms if key and key[0] == SQUARE]
            if squares:
                if {*gap.terms} <= {(), *squares[:1]} and (factor := -gap.terms[squares[0]]) > 0:
                    most = root_above(gap.terms.get((), Fraction(0)) / factor)
                    gap = NormExpression({(): most, (LENGTH, squares[0][1]): Fraction(-1)})
                else:
                    continue
            found[f"hypothesis {place} {count}"] = gap
        return found

    def of_coupled(self):
        """Facts about coupled runs: gradients, loss differences, the generalisation error."""
        found, n = {}, Fraction(self.size["samples"])
        bounded = "G_lip" in self.stated["everywhere"]
        if bounded and not self.pathwise:
            bound = NormExpression({(): 2 * upper(self.lipschitz()) / n})
            for function, seen in [*self.points.items()]:
                for i, (x, g) in enumerate(seen if function[0] == TWIN else ()):
                    other = self.gradient_at((OWN, *function[1:]), x)
                    found[f"cross {' '.join(map(str, function[1:]))} {i}"] = bound - self.length(other - g)
        if self.pathwise:
            return found
        slope = number(self.given["G_lip"]) if bounded else None
        for key, apart in self.gaps.items() if bounded and self.each_gap else ():
            found[" ".join(map(str, key))] = apart * slope - NormExpression({(SIGNED, *key): Fraction(1)})
        for r in range(self.size["rounds"] + 1):
            error = [NormExpression({(SIGNED, "generalisation", r): sign}) for sign in (Fraction(1), Fraction(-1))]
            error.append(NormExpression({(GAP, "generalisation", r): Fraction(1)}))
            for i, one in enumerate(error):
                if bounded:
                    runs = [(chance, self.run(outcome).record) for chance, outcome in self.outcomes()]
                    apart = sum((self.length(record["x_round"][r] - record["twin_x_round"][r]) * chance
                                 for chance, record in runs), NormExpression({}))
                    found[f"generalisation {r} {i}"] = apart * slope - one
                for word in () if self.each_gap else ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap"):
                    if (word == "worst_pair_gap") == (self.how["replaced"] == "random"):
                        found[f"generalisation {r} {i} {word}"] = NormExpression({(SIGNED, word, r): Fraction(1)}) - one
        return found


def chosen_facts(rules, known, proof):
    """(amount, multiplier) of all that a proof uses: what is ``known`` by name, and what it makes."""
    names = proof["known"]
    require({*names} <= {*known}, f"nothing known is called {', '.join({*names} - {*known})}")
    found = [(known[name], parse_number(times)) for name, times in names.items()]
    functions = [*rules.points]
    for function, i, j, a, s, times in proof["steps"]:
        found.append((rules.step(functions[function], i, j, parse_number(a), parse_number(s)), parse_number(times)))
    for function, i, j, a, s, by, times in proof["hits"]:
        require(functions[function][0] == OWN, "a draw is named by the function of the run itself")
        found.append((rules.hit(functions[function][1:], i, j, parse_number(a), parse_number(s), by), parse_number(times)))
    for row, parts, times in proof["triangles"]:
        made = [(vector(rules, part), parse_number(c)) for part, c in parts]
        found.append((rules.triangle(vector(rules, row), made), parse_number(times)))
    return found


def vector(rules, data):
    letters = range(len(rules.upstream))
    require(isinstance(data, list) and all(type(letter) is int and letter in letters for letter, _ in data),
            "a vector is a list of letters with coefficients")
    return SymbolicVector({letter: parse_number(c) for letter, c in data})


def nonnegative(amount):
    """Whether an amount is surely never negative."""
    return all(c == 0 if key and key[0] not in NONNEGATIVE else lower(c) >= 0 for key, c in amount.terms.items())
