"""A tactic for runs and all numbers: bounds the mean square of the noise of a step."""

from collections.abc import Iterator

from verify.checker.index_sums import combined, frozen, new_index, scaled, substitute, vector_sum
from verify.checker.number_runs import CLIENT
from verify.checker.polynomials import ONE, Poly, constant, of_atom
from verify.prove.number_averages import subtract_facts
from verify.prove.number_losses import CLIENTS
from verify.prove.number_runs import rewrite_fact
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms

__all__ = ["by_noise"]


def by_noise(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Subtracts the mean square of noise from a goal about means, and bounds it by the variances in the hypotheses."""
    goal = ("noise", repr(p))
    if search.reader.run is None or relation != ">=" or depth < 2 or goal in search.failed:
        return False
    search.failed.add(goal)
    times = {a[2] for mean in all_atoms(p) if mean and mean[0] == "E" for a in all_atoms(mean) if a[:2] == ("run", "g")}
    if len(times) != 1:
        return False
    return subtract_facts(search, relation, p, [*_noise_facts(search, times.pop())], depth, -1)


def _noise_facts(search: Search, t: Poly) -> Iterator[str]:
    """Yields the names of facts: the average noise is at most its mean square, variances, and hypotheses on these."""
    index = new_index()
    k, name, (low, high) = of_atom(index), f"k{len(search.names)}", CLIENTS
    weight = substitute(search.known, search.reader.run.weight, CLIENT, k)

    def enter_clients():
        return search.branch(search.known.with_index(index, low, high, name), {**search.names, name: k})

    def add_client_sum(within, fact, mean=False):
        body = within.known.facts[fact].poly * weight
        shows = within.shows(">=", body)
        within.step("identity", shows=shows, terms=[{"facts": [fact], "times": [within.formula(weight)]}])
        fact = search.sum_each(name, low, high, shows, within.steps)
        fact = (fact and mean and search.step("mean", fact=fact)) or fact
        return fact and (rewrite_fact(search, fact) or fact)

    point = {("run", "x_local", t, k): ONE}
    n = combined([{("run", "g", t, k): ONE}, {("grad", k, frozen(point)): constant(-1)}])
    within = enter_clients()
    away = combined([n, scaled(vector_sum(search.known, index, scaled(n, weight), low, high), constant(-1))])
    if (fact := within.lemma("square", away)) and (found := add_client_sum(within, fact, True)):
        yield found
    within = enter_clients()
    if (fact := within.lemma("variance", t, k)) and (found := add_client_sum(within, rewrite_fact(within, fact) or fact)):
        yield found
    for fact, one in [*search.known.facts.items()]:
        about = any(a[:2] == ("entry", "sigma_sq_client") for a in atoms_of(one.poly))
        if about and len(one.ranges) == 1 and one.relation == ">=":
            within = enter_clients()
            if (own := within.step("instance", fact=fact, at=[name])) and (found := add_client_sum(within, own)):
                yield found
