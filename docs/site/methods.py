"""One page for every method: its formulas and promises, what it costs, a figure with its script, and its claims."""

import inspect
from collections.abc import Mapping

from bounds.registry.papers import PAPERS, claims_of_paper
from docs.site.gallery import draw
from docs.site.gathered import Pages, table
from fedtheory import algorithms
from fedtheory.method import Method
from fedtheory.pages import blocks
from fedtheory.registry import ALGORITHMS, find_algorithm
from fedtheory.traits import GRADIENT_DESCENT, Costs, Traits

__all__ = ["script", "write"]

#: methods that make no sense on the layered quadratics of the others
FEDERATIONS = {"fedpara": "digits-factored"}
_SCRIPT = '''import fedtheory as ft
from matplotlib import pyplot as plt

federation = ft.make_problem("{federation}")
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name in ("{method}", "{other}"):
    method = ft.make_algorithm(name, eta_l=0.05, local_steps=4)
    runs = ft.run(method, federation, rounds=60, seeds=8)
    axes.semilogy(runs.dataset.suboptimality.mean("run"), label=name)
axes.set(xlabel="round", ylabel="$F(x) - F_*$, mean of 8 runs")
axes.legend()
figure.savefig("{method}.svg")
'''
_MAPS = {"all": "Every rotation and reflection of the parameters turns the trajectory along.",
         "signed permutations": "Permutations and changes of sign of coordinates turn the trajectory along.",
         "within layers": "Rotations and reflections within a layer turn the trajectory along."}


def script(name: str) -> str:
    """The script that draws the figure of a method: it beside FedAvg, or FedAvg beside SCAFFOLD."""
    return _SCRIPT.format(method=name, other="scaffold" if name == "fedavg" else "fedavg",
                          federation=FEDERATIONS.get(name, "quadratic-layered"))


def write(pages: Pages, run) -> None:
    """The pages of all methods, and the page that lists them."""
    claims = _claims()
    for name, method in sorted(ALGORITHMS.items()):
        draw(pages, f"methods/{name}.svg", script(name))
        pages.write(f"methods/{name}.md", "\n".join(_page(name, method, claims.get(name, []), run)))
    conventions = inspect.cleandoc(algorithms.__doc__).partition("\n\n")[2]
    rows = [(f"[{name}]({name}.md)", method.description, method.source, len(claims.get(name, [])))
            for name, method in sorted(ALGORITHMS.items())]
    pages.write("methods/index.md", "\n".join([
        "# Methods", "", f"The {len(ALGORITHMS)} registered methods. `fedtheory algorithms` prints the same list.", "",
        *table(("method", "what it is", "source", "claims"), rows), "## How the formulas are read", "",
        *blocks(conventions), "", "```{toctree}", ":hidden:", "", *sorted(ALGORITHMS), "```", ""]))


def _claims() -> dict[str, list]:
    """The registered claims about runs of each method, by its name."""
    found: dict[str, list] = {}
    names = {id(method): name for name, method in reversed(sorted(ALGORITHMS.items()))}
    for paper in PAPERS:
        for claim in claims_of_paper(paper).values():
            if claim.procedure is not None and claim.setting == "run":
                found.setdefault(names[id(find_algorithm(claim.procedure.base))], []).append((paper, claim))
    return found


def _page(name: str, method: Method, claims: list, run) -> list[str]:
    makers = [other for other, entry in sorted(ALGORITHMS.items()) if entry.make is method.make]
    path = f"{method.make.__module__}.{method.make.__qualname__}"
    again = ["   :no-index:"] if makers[0] != name else []
    lines = [f"# {name}", "", f"{method.description[0].upper()}{method.description[1:]}. Source: {method.source}.", ""]
    if len(makers) > 1:
        others = ", ".join(f"[{other}]({other}.md)" for other in makers if other != name)
        lines += [f"The same maker stands behind {others}.", ""]
    lines += ["## Definition", "", "```{eval-rst}", f".. autofunction:: {path}", *again, "```", "",
              "[How the formulas are read](index.md#how-the-formulas-are-read).", "",
              "## Promises", "", "`fedtheory conform " + name + "` checks each of them, and [what every method "
              "owes](../conformance.md).", "", *(f"- {line}" for line in _promises(method.traits)), ""]
    if method.traits.costs is not None:
        lines += ["## Costs of a round", "", *table(("what", "how much"), _costs(method.traits.costs))]
    lines += ["## A run", "", f"![{name} beside another method on one federation]({name}.svg){{.figure}}", "",
              "```python", script(name).rstrip(), "```", "",
              "The arguments are the same for every method, and tuned for none.", "", "## Claims", ""]
    if claims:
        rows = [(f"[`{claim.id}`](../papers/{paper}.md#{run.anchor(claim.id)})", claim.kind, run.word(claim))
                for paper, claim in claims]
        lines += [run.sentence, "", *table(("claim", "kind", "verdict"), rows)]
    else:
        lines += ["No registered claim is about runs of this method. [A claim of your own](../claims.md) may be.", ""]
    return lines


def _promises(traits: Traits) -> list[str]:
    lines = []
    if traits.translation:
        lines.append("Moving the losses and the start by a vector moves the trajectory by it.")
    if traits.orthogonal:
        lines.append(_MAPS[traits.orthogonal])
    if traits.units is not None:
        units = ", ".join(f"`{name}`: {_unit(unit)}" for name, unit in traits.units.items())
        lines.append(f"Rescaled losses or parameters rescale the trajectory. Units of arguments: {units or 'none has one'}.")
    if traits.tilt is not None:
        names = ", ".join(f"`{name}`" for name in traits.tilt.arrays)
        lines.append(f"Linear terms that cancel between clients change nothing once {names} take them in"
                     f"{_where(traits.tilt.where)}.")
    if traits.fixed_point is not None:
        goes = ", and small steps with all clients lead there" if traits.fixed_point.attracts else ""
        lines.append(f"The minimiser of F is a fixed point without noise, however different the clients are"
                     f"{_where(traits.fixed_point.where)}{goes}.")
    for special in traits.reductions:
        other = "gradient descent" if special.to == GRADIENT_DESCENT else f"[{special.to}]({special.to}.md)"
        given = f" with {_arguments(special.arguments)}" if special.arguments else ""
        there = f", given {_arguments(special.given)}" if special.given else ""
        lines.append(f"Special case{given}{_where(special.where)}: {other}{there}.")
    lines += [f"After every round: {law.name}{_where(law.where)}." for law in traits.laws]
    if traits.random:
        lines.append("It draws random numbers besides the sampling of clients and the noise of gradients.")
    lines += [f"Not promised, though other methods owe it: {name}. {reason[0].upper()}{reason[1:]}."
              for name, reason in traits.exempt.items()]
    return lines or ["None besides what every method owes."]


def _unit(powers: tuple) -> str:
    named = zip(("loss", "parameter"), powers, strict=True)
    parts = [f"{name}^{power}" if power != 1 else name for name, power in named if power]
    return " ".join(parts) or "a number"


def _where(where: Mapping) -> str:
    return f" (where {_arguments(where)})" if where else ""


def _arguments(values: Mapping) -> str:
    return ", ".join(f"`{name} = {value!r}`" for name, value in values.items())


def _costs(costs: Costs):
    def amount(value) -> str:
        if callable(value):
            return "depends on the round and on the state"
        return "not declared" if value is None else f"{value:g} model{'s' if value != 1 else ''}"

    yield "to a participant", amount(costs.down)
    yield "from a participant", amount(costs.up)
    yield "stochastic gradients of a participant", ("not declared" if costs.gradients is None else
                                                    f"{costs.gradients(1)} with 1 local step, {costs.gradients(10)} with 10")
    yield "kept by a client between rounds", amount(costs.kept)
