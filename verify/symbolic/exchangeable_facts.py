"""Facts about runs of every number of clients at once, and about what all clients share."""

from verify.checker.laurent_polynomials import CLIENTS, LaurentForm, holds, on_ends, polynomial
from verify.checker.operators import require
from verify.checker.quadratic_forms import APART, LAYER, LOSS, NotQuadratic, QuadraticForm, SymbolicVector, pairing
from verify.checker.scope import CLIENTS as CLIENT_COUNTS
from verify.checker.scope import ties


class ExchangeableFacts:
    """Mixin; must precede the facts of symbolic runs in the bases. For every number of clients from the ``least`` on, and
    polynomials of at most a ``degree`` in 1/m."""

    def leave_out(self, rule):
        super().leave_out(rule)
        shown = not ties(rule, self.rules | self.defined, CLIENT_COUNTS)
        require(shown, f"not shown for every number of clients: {rule['text']}")

    def says_something(self, rule, gap):
        if self.any_weights and {*gap.parts} == {*self.count.parts} | ({*gap.parts} & {()}):
            slope, level = (gap.coefficient(key) for key in (*self.count.parts, ()))
            meets = slope >= 0 and self.compare(rule["relation"], 0, slope * self.least + level)
            require(meets, f"a hypothesis fails for some number of clients: {rule['text']}")
            return False
        if self.any_weights and (isinstance(gap, LaurentForm) or {*self.count.parts} & {*gap.parts}):
            self.leave_out(rule)  # it is about weights, or their number and something else
            return False
        if any(isinstance(key, str) and key.startswith(f"{LOSS}any ") for key in gap.of_what):
            self.leave_out(rule)  # the largest of several numbers, one of which may be the number of clients
        if isinstance(gap, LaurentForm) and polynomial(gap) is not None:
            meets = holds(rule["relation"], gap, self.least)
            require(meets, f"a hypothesis fails for some number of clients: {rule['text']}")
            return False
        return super().says_something(rule, gap)

    def apart_at_all_points(self, name, bound):
        """Yields the bounds of the distance of clients' gradients from their mean, at points that all clients share."""
        if name == "sigma_g_client" or (self.any_weights and name not in ("sigma_g_max", "sigma_g_2")):
            raise NotQuadratic(f"{name}, for every number of clients")
        for number, x in enumerate(filter(is_common, self.places())):
            gradient = self.known_at(0, x)[1]
            apart = gradient - common(gradient)
            share = 1 if name in ("sigma_g_max", "sigma_g_2") else CLIENTS**-1
            yield f"{name} {number}", bound**2 - pairing(apart, apart) * share

    def at_the_optimum(self):
        L, m = self.bounds["L_client"][0], self.bounds["mu_client"][0]
        if L is None or (m is not None and m >= 0):
            return {}
        return {f"least {number}": self.above((x, self.objective_grad(x), self.objective(x)), L) - self.given["F_star"]
                for number, (x, *_) in enumerate(self.points[0][1:], 1) if is_common(x)}

    def of_one_curvature(self):
        return {}  # not used, which assumes less

    def uncorrelated(self, past):
        """Inner products of noise with what does not depend on its draw, and those of one client's noise with another's
        letter, where that depends on no client's draw but its own: of <n_k, v_j>, the mean over all k and j is 1/m times the
        one over k = j."""
        first, found = self.first_of_draws(past), {}
        for i in range(len(self.depends)):
            for j in range(i, len(self.depends)):
                pairs = [(first[n], self.depends[v]) for n, v in ((i, j), (j, i)) if n in first]
                whole = any(draw not in depends for draw, depends in pairs)
                own = not self.any_weights and any(draw + LAYER not in depends for draw, depends in pairs)
                for l in range(self.size["layers"]) if whole or own else ():
                    mean, apart = (QuadraticForm.basis((i + part, j + part)) for part in (l * LAYER, l * LAYER + APART))
                    if whole:
                        found[f"uncorrelated {i} {j} {l}"] = mean
                        if not {i, j} & self.shared:
                            found[f"uncorrelated {i} {j} {l} apart"] = apart
                    else:
                        found[f"across {i} {j} {l}"] = mean - (mean + apart) * CLIENTS**-1
        return found

    def drawn_as(self, name):
        kind, *of = name.split()
        if kind != "across":
            return super().drawn_as(name)
        i, j, first = int(of[0]), int(of[1]), self.first_of_draws()
        return max(self.chosen_before[first[n]] for n, v in ((i, j), (j, i))
                   if n in first and first[n] + LAYER not in self.depends[v])

    def facts_by_past(self, pasts):
        return {past: tuple(self.named(forms) for forms in both) for past, both in super().facts_by_past(pasts).items()}

    def named(self, forms):
        """The facts times the polynomials that the degree leaves."""
        found = {}
        for name, form in forms.items():
            require(not (self.any_weights and form.with_powers), "a weight outside of sums")
            parts = on_ends(form, self.least, self.degree)
            found |= {f"{name} part {q}" if len(parts) > 1 else name: part for q, part in enumerate(parts)}
            self.meter.charge(sum(len(part.parts) for part in parts))
        return found

    def as_proven(self, smaller, larger):
        gap = larger - smaller
        require(not (self.any_weights and gap.with_powers), "a weight outside of sums")
        found = on_ends(gap, self.least, self.degree)
        require(found, f"a side has a larger degree in 1/m than {self.degree}")
        return QuadraticForm({}), sum(found, QuadraticForm({}))


def common(value):
    """The mean over all clients: of a vector what is left without deviations; a number stands for its mean."""
    if not isinstance(value, SymbolicVector):
        return value
    if value.with_powers:
        return value.reduced({(p, i): c for (p, i), c in value.parts.items() if i < APART}, value.over)
    return value.reduced({i: c for i, c in value.parts.items() if i < APART}, value.over)


def factored(row):
    """A vector without a power of the number of clients, and that power."""
    if not isinstance(row, SymbolicVector) or not row.with_powers:
        return row, 0
    powers = {p for p, _ in row.parts}
    if len(powers) > 1:
        raise NotQuadratic("a vector with several powers of the number of clients")
    return SymbolicVector({i: c for (_, i), c in row.terms.items()}), *powers


def is_common(row):
    """Whether a vector is the same for all clients."""
    return all(i < APART for i in row.of_what)
