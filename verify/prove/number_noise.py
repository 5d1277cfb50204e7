"""Proofs about runs for all numbers: what the noise of a step adds in the mean."""

from collections.abc import Iterator

from verify.checker.index_sums import combined, frozen, new_index, scaled, substitute, vector_sum
from verify.checker.number_runs import CLIENT
from verify.checker.polynomials import ONE, Poly, constant, of_atom
from verify.prove.number_averages import less
from verify.prove.number_losses import CLIENTS
from verify.prove.number_runs import rewritten_fact
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms

__all__ = ["by_noise"]


def by_noise(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A goal about means without the variance of noise, which is at most what hypotheses say."""
    goal = ("noise", repr(p))
    if search.reader.run is None or relation != ">=" or depth < 2 or goal in search.failed:
        return False
    search.failed.add(goal)
    times = {a[2] for mean in all_atoms(p) if mean and mean[0] == "E" for a in all_atoms(mean) if a[:2] == ("run", "g")}
    if len(times) != 1:
        return False
    return less(search, relation, p, [*_facts(search, times.pop())], depth, -1)


def _facts(search: Search, t: Poly) -> Iterator[str]:
    """Names of facts: the mean noise is at most the mean of squares; the variances; what hypotheses say of these."""
    index = new_index()
    k, name, (low, high) = of_atom(index), f"k{len(search.names)}", CLIENTS
    weight = substitute(search.known, search.reader.run.weight, CLIENT, k)

    def begin():
        return search.inside(search.known.within(index, low, high, name), {**search.names, name: k})

    def summed(within, fact, mean=False):
        body = within.known.facts[fact].poly * weight
        shows = within.shows(">=", body)
        within.step("identity", shows=shows, terms=[{"facts": [fact], "times": [within.formula(weight)]}])
        each = search.step("each", index=name, low=search.formula(low), high=search.formula(high), shows=shows,
                           steps=within.steps)
        fact = each and search.step("sum", fact=each)
        fact = (fact and mean and search.step("mean", fact=fact)) or fact
        return fact and (rewritten_fact(search, fact) or fact)

    point = {("run", "x_local", t, k): ONE}
    n = combined([{("run", "g", t, k): ONE}, {("grad", k, frozen(point)): constant(-1)}])
    within = begin()
    away = combined([n, scaled(vector_sum(search.known, index, scaled(n, weight), low, high), constant(-1))])
    if (fact := within.lemma("square", away)) and (found := summed(within, fact, True)):
        yield found
    within = begin()
    if (fact := within.lemma("variance", t, k)) and (found := summed(within, rewritten_fact(within, fact) or fact)):
        yield found
    for fact, one in [*search.known.facts.items()]:
        about = any(a[:2] == ("entry", "sigma_sq_client") for a in atoms_of(one.poly))
        if about and len(one.ranges) == 1 and one.relation == ">=":
            within = begin()
            if (own := within.step("instance", fact=fact, at=[name])) and (found := summed(within, own)):
                yield found
