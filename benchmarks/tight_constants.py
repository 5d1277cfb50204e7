"""Published tight constants, each computed anew, run, proven and refuted: ``python -m benchmarks.tight_constants``.

A row is a theorem ``measure after N rounds <= constant * what is given at the start``. Beside its constant the page shows
the worst case that ``fedtheory.worst`` finds; what the worst function itself, run by the ordinary engine, measures in units
of 0.99 times the constant; and, where a claim can say the theorem, whether a proof in rational numbers certifies it and
what the referee says of 0.99 times the constant. The table is written to benchmarks/tight_constants.md.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import sympy as sp

import fedtheory as ft
from benchmarks import tight_methods as methods
from bounds.language import operators
from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from verify.worst.function import measured, worst_function
from verify.worst.method_worst_case import WorstOfMethod, worst
from verify.worst.worst_case import worst_case

__all__ = ["ROWS", "Found", "Row", "claim_of", "computed", "main", "measured_ratio", "refereed", "table"]

CONVEX, STRONG, SMOOTH = "smooth-convex", "smooth-strongly-convex", "smooth"
LIPSCHITZ, BOUNDED = "convex-lipschitz", "convex-quadratic-bound"
LESS, NEAR = Fraction(99, 100), Fraction(1, 10**6)
PAGE = Path(__file__).with_suffix(".md")
_SEQUENCES = {name: getattr(methods, name) for name in (
    "bounded", "falling", "invariants", "joined", "optimal_step", "thetas", "two_steps")}
_NAMES = _SEQUENCES | {"sum": sum, "list": list, "reversed": reversed}


class Row(NamedTuple):
    """A published constant at L = 1, mu = q: a ``formula`` in the ``numbers``, of which the method takes ``arguments``."""

    source: str
    functions: str
    measure: str
    given: str
    formula: str
    method: Callable[..., Any]
    arguments: tuple[str, ...]
    numbers: dict[str, str]
    clients: int = 1
    known: str = "proven"

    @property
    def values(self) -> dict[str, Any]:
        """The numbers; rational where they are written so."""
        found: dict[str, Any] = {}
        for name, text in self.numbers.items():
            found[name] = sp.sympify(text, locals=_NAMES | found)
        return found

    @property
    def constant(self) -> sp.Expr:
        return sp.sympify(self.formula, locals=_NAMES | self.values)

    @property
    def rounds(self) -> int:
        return int(self.values["N"])

    @property
    def algorithm(self):
        return self.method(*(_plain(self.values[name]) for name in self.arguments))

    @property
    def called(self) -> str:
        """The method with its arguments, as text."""
        return f"{self.method.__name__}({', '.join(f'{name}={self.numbers[name]}' for name in self.arguments)})"


def _plain(value):
    if isinstance(value, list):
        return [float(each) for each in value]
    return int(value) if value == int(value) else float(value)


class Found(NamedTuple):
    """What came out for a row: the worst case, what its function measures, and what was said of the claim."""

    ratio: float
    measured: float
    certified: str
    refuted: str


# the table ----------------------------------------------------------------------------------------------------------------
DT14 = "Drori, Teboulle 2014"
THG = "Taylor, Hendrickx, Glineur"
KIM, ROTARU = "Kim 2024", "Rotaru, Glineur, Patrinos 2024"
AKZ = "Abbaszadehpeivasti, de Klerk, Zamani 2022"
GSW, GTD = "Grimmer, Shu, Wang 2024", "Goujaud, Taylor, Dieuleveut 2022"
GB = "Giselsson, Boyd 2017"
SHORT, LONG = "2*N*h + 1", "(1 - h)**(2*N)"
CURVED = "q/(q - 1 + (1 - q*h)**(-2*N))"
BOTH_ENDS = f"Max((1 - q*h)**(2*N), {LONG})"
NON_CONVEX = "4/(2 + N*Min(4*h - h**2, 4*h - h**3))"
REFLECTED = "Max((1 - gamma*q)/(1 + gamma*q), (gamma - 1)/(gamma + 1))"
SLOPE = "Max(1/(N*h + 1), Abs(1 - h)**N)**2"
CURVED_SLOPE = "Max(q/(q - 1 + (1 - q*h)**(-N)), Abs(1 - h)**N)**2"


def _row(source, question, formula, method, arguments="", known="proven", clients=1, **numbers) -> Row:
    """``question``: class, measure and given in one text; numbers as text or whole."""
    functions, measure, given = question.split()
    numbers |= {"q": "1/10"} if functions == STRONG else {}
    return Row(source, functions, measure, given, formula, method, tuple(arguments.split()),
               {name: str(number) for name, number in numbers.items()}, clients, known)


def _descent(source, question, formula, N, h, known="proven") -> Row:
    return _row(source, question, formula, methods.descent, "h", known, N=N, h=h)


ROWS = [
    # gradient descent, convex
    _descent(f"{DT14}, Theorem 3.1", f"{CONVEX} value distance", f"1/(2*({SHORT}))", 3, 1),
    _descent(f"{DT14}, Theorem 3.1", f"{CONVEX} value distance", f"1/(2*({SHORT}))", 2, "1/2"),
    *(_descent(f"{DT14}, Conjecture 3.1; {KIM}", f"{CONVEX} value distance", f"Max(1/({SHORT}), {LONG})/2", 3, h)
      for h in ("3/2", "19/10")),
    _descent(f"{DT14}, Conjecture 3.1; {KIM}: the best step", f"{CONVEX} value distance", f"1/(2*({SHORT}))", 2,
             "optimal_step(N)"),
    _row(f"{DT14}, Theorem 3.1; FedAvg with 100 clients", f"{CONVEX} value distance", f"1/(2*({SHORT}))", methods.descent,
         "h", clients=100, N=2, h=1),
    _row(f"{DT14}, Theorem 3.1; FedAvg with K local steps", f"{CONVEX} value distance", "1/(2*(2*N*K*h + 1))",
         methods.descent, "h K", N=2, h=1, K=3),
    *(_descent(f"{THG} 2017a, Conjecture 3", f"{CONVEX} gradient distance", SLOPE, 3, h, "conjectured")
      for h in (1, "19/10")),
    *(_descent(ROTARU, f"{CONVEX} gradient value", f"2*Max(1/({SHORT}), {LONG})", 3, h) for h in (1, "9/5")),
    # gradient descent, strongly convex
    *(_descent(f"{THG} 2018, Theorem {theorem}", f"{STRONG} {measure} {measure}", BOTH_ENDS, N, h)
      for theorem, measure in (("3.1", "distance"), ("3.3", "value"), ("3.2", "gradient"))
      for N, h in ((3, "1/2"), (2, "19/10"))),
    _descent(f"{THG} 2018, Theorem 3.1: the best step", f"{STRONG} distance distance", "((1 - q)/(1 + q))**(2*N)", 2,
             "20/11"),
    *(_descent(f"{THG} 2017a, Conjecture 2; {KIM}", f"{STRONG} value distance", f"Max({CURVED}, {LONG})/2", 3, h)
      for h in (1, "17/10")),
    _descent(f"{THG} 2017a, Conjecture 3", f"{STRONG} gradient distance", CURVED_SLOPE, 3, "3/2", "conjectured"),
    _descent(ROTARU, f"{STRONG} gradient value", f"2*Max({CURVED}, {LONG})", 3, 1),
    # gradient descent, non-convex
    *(_descent(AKZ, f"{SMOOTH} least-gradient value", NON_CONVEX, N, h) for N, h in ((3, "1/2"), (3, 1), (3, "3/2"))),
    _descent(f"{AKZ}: the best step", f"{SMOOTH} least-gradient value", "4/(2 + 16*N/(3*sqrt(3)))", 3, "2/sqrt(3)"),
    # steps of several lengths
    *(_descent(f"{GSW}: silver steps joined with a last one", f"{CONVEX} value distance", "1/(2*(1 + 2*sum(h)))", N,
               "joined(N)") for N in (2, 4)),
    *(_descent(f"{GSW}: the same in reverse", f"{CONVEX} gradient value", "2/(1 + 2*sum(h))", N,
               "list(reversed(joined(N)))") for N in (2, 4)),
    _descent("Altschuler, Parrilo 2025: the best two steps", f"{STRONG} distance distance",
             "((1 - q*h[0])*(1 - q*h[1]))**2", 2, "two_steps(1/10)"),
    # fast gradient methods
    _row(f"{THG} 2017b, Table 1", f"{CONVEX} value distance", "2/(N**2 + 5*N + 6)", methods.fast_gradient, "N", "numerical",
         N=4),
    _row("Kim, Fessler 2016, Theorems 2 and 3", f"{CONVEX} value distance", "1/(2*thetas(N, 8)[N]**2)",
         methods.optimized_gradient, "N", N=3),
    _row("Kim, Fessler 2021, Theorem 6.1", f"{CONVEX} gradient value", "2/thetas(N, 8)[N]**2",
         methods.optimized_gradient_norm, "N", N=3),
    _row("Van Scoy, Freeman, Lynch 2018, Theorem 1", f"{STRONG} value distance", "(1 - sqrt(q))**(2*N)/(2*q)",
         methods.triple_momentum, "q", "as an upper bound", N=3),
    _row("Taylor, Drori 2023, Theorem 3", f"{STRONG} distance distance", "1/(1 + q*invariants(N, q)[N])",
         methods.information_theoretic, "N q", N=3),
    # proximal point, Douglas-Rachford and its reflections
    _row("Rockafellar 1976", f"{STRONG} distance distance", "1/(1 + gamma*q)**(2*N)", methods.proximal_point, "gamma", N=3,
         gamma=2),
    _row(f"{THG} 2017b, Theorem 4.1", "convex value distance", "1/(4*gamma*N)", methods.proximal_point, "gamma", N=3,
         gamma=2),
    _row(f"{THG} 2017b, Section 4.1", "convex gradient distance", "1/(gamma*N)**2", methods.proximal_point, "gamma",
         "conjectured", N=3, gamma=2),
    *(_row(f"{GB}, Theorem 1: a first round of FedPD reflects", f"{STRONG} distance distance", f"{REFLECTED}**2",
           methods.primal_dual, "gamma", N=1, gamma=gamma) for gamma in (1, 6)),
    _row(f"{GB}, Theorem 2, where the second function is zero", f"{STRONG} distance distance",
         f"(1 - alpha + alpha*{REFLECTED})**(2*N)", methods.douglas_rachford, "gamma alpha", N=2, gamma=1, alpha="3/4"),
    # convex functions that are not smooth
    _descent("Nesterov 2003, Section 3.2.3", f"{LIPSCHITZ} least-value distance", "1/sqrt(N + 1)", 5, "1/sqrt(N + 1)"),
    _descent("Zamani, Glineur 2025: the best steps for the last round", f"{LIPSCHITZ} value distance", "1/sqrt(N + 1)", 4,
             "falling(N)"),
    *(_descent(f"{GTD}, Theorem 2.2", f"{BOUNDED} value distance", f"Max(1/({SHORT}), h)/2", 3, h, "as a lower bound")
      for h in ("1/10", "2/5")),
    _descent(f"{GTD}, Conjecture A.3", f"{BOUNDED} value distance", "h[-1]/2", 3, "bounded(N)", "conjectured"),
    _row(f"{GTD}, Theorems 2.3 and 2.4: heavy ball", f"{BOUNDED} value distance", "1/(2*(N + 1))", methods.heavy_ball, "N",
         N=4),
]


# what is computed ---------------------------------------------------------------------------------------------------------
def computed(row: Row) -> WorstOfMethod:
    """The exact worst case of a row's question."""
    mu = {"mu": float(row.values["q"])} if row.functions == STRONG else {}
    return worst(row.algorithm, row.rounds, row.clients, functions=row.functions, measure=row.measure, given=row.given, **mu)


def measured_ratio(found: WorstOfMethod) -> float:
    """The measure, in units of what is given, on the worst function's own run."""
    run = measured(worst_function(found))
    return run["ratio"] / run["given"]


_POWERS = {"distance": 0, "value": 1, "gradient": 2}  # of L in units
_QUANTITIES = {
    "distance": lambda x: operators.norm2(x - operators.x_star),
    "value": lambda x: operators.objective(x) - operators.F_star,
    "gradient": lambda x: operators.norm2(operators.objective_grad(x))}


def claim_of(row: Row, factor: Fraction = Fraction(1)) -> Claim | None:
    """The row with ``factor`` times its constant as a claim; None if it needs irrational numbers, or a class or a method
    that claims do not have."""
    values, constant = row.values, row.constant
    names = {methods.descent: "fedavg", methods.primal_dual: "fedpd"}
    rational = all(getattr(number, "is_Rational", False) for number in (*values.values(), constant))
    if row.method not in names or row.functions not in (CONVEX, STRONG, SMOOTH) or not rational:
        return None
    N, L, x = row.rounds, operators.L, operators.x_round
    every, steps = (operators.k, 0, operators.clients - 1), (operators.t, 0, operators.iterations - 1)
    class_of = [Condition(operators.L_client[operators.k], "<=", L, (every,)),
                Condition(operators.sigma_sq_client[operators.k], "<=", 0, (every,))]
    if row.functions != SMOOTH:
        least = operators.mu if row.functions == STRONG else 0
        class_of.append(Condition(operators.mu_client[operators.k], ">=", least, (every,)))
    conditions = [Condition(operators.rounds, "==", N)]
    if row.functions == STRONG:
        conditions.append(Condition(operators.mu, "==", values["q"] * L))
    many = int(values.get("K", 1))
    variables, options = [Variable("local_steps", "integer", low=many, high=many)], ()
    if row.method is methods.descent:
        conditions.append(Condition(operators.eta_l[operators.t], "==", values["h"] * L**-1, (steps,)))
    else:
        rho = sp.Symbol("rho_prox", positive=True)
        conditions.append(Condition(L, "==", values["gamma"] * rho))
        variables.append(Variable("rho_prox", "positive"))
        options = (("solver", "exact"),)
    if many > 1 or row.method is not methods.descent:
        conditions.append(Condition(operators.clients, "==", 1))
    measure = row.measure.removeprefix("least-")
    left = _QUANTITIES[measure](x[operators.rounds])
    if measure != row.measure:
        left = operators.Min(left, *(_QUANTITIES[measure](x[operators.Min(i, operators.rounds)]) for i in range(N)))
    right = sp.Rational(factor.numerator, factor.denominator) * constant * L ** (_POWERS[measure] - _POWERS[row.given])
    name = f"tight/{ROWS.index(row) if row in ROWS else 'row'}"
    return Claim(name, "none", "theorem", "run", Condition(left, "<=", right * _QUANTITIES[row.given](x[0])),
                 tuple(Assumption(f"{name}:{place}", "the class", (each,)) for place, each in enumerate(class_of)),
                 tuple(conditions), "as in the source", row.source, definitions=DEFINITIONS,
                 procedure=Procedure(names[row.method], options=options), variables=tuple(variables))


def refereed(row: Row) -> tuple[str, str]:
    """What a proof says of a row's claim, and what the referee says of 0.99 times the constant."""
    if claim_of(row) is None:
        return "-", "-"
    values = {"rounds": row.rounds, "clients": 1, "local_steps": int(row.values.get("K", 1)), "L": Fraction(1)}
    values |= {"mu": Fraction(str(row.values["q"]))} if row.functions == STRONG else {}
    values |= {"rho_prox": 1 / Fraction(str(row.values["gamma"]))} if row.method is methods.primal_dual else {}
    certified = "no proof found"
    for factor, said in ((Fraction(1), "at 1"), (1 + NEAR, "at 1 + 1e-6")):
        try:
            found = worst_case(claim_of(row, factor), values)
        except ValueError:
            certified = "not of this kind"
            break
        if found.certificate:
            certified = said
            break
    if ft.verify(claim_of(row), budget="quick").verdict == "refuted":
        raise ValueError(f"{row.source}: the referee refutes the published constant")
    for budget in ("quick", "standard"):
        verdict = ft.verify(claim_of(row, LESS), budget=budget)
        if verdict.verdict == "refuted":
            return certified, f"refuted, {budget}"
    return certified, verdict.verdict if verdict.ratio is None else f"{verdict.verdict}, {verdict.ratio:.4f}"


def main() -> None:
    """Compute all rows, and write the page."""
    found = []
    for row in ROWS:
        worst_of = computed(row)
        found.append(Found(worst_of.ratio, measured_ratio(worst_of), *refereed(row)))
        print(row.source, row.called, float(row.constant), *found[-1], flush=True)
    PAGE.write_text(table(found), encoding="utf-8")


def table(found: list[Found]) -> str:
    """The page: a line for each row."""
    lines = [*_HEAD, "", *("| " + " | ".join(cells) + " |" for cells in (_COLUMNS, _RULE))]
    for row, (ratio, run, certified, refuted) in zip(ROWS, found, strict=True):
        constant, off = float(row.constant), abs(ratio / float(row.constant) - 1)
        source = row.source if row.known == "proven" else f"{row.source} ({row.known})"
        numbers = ", ".join(f"{name} = {text}" for name, text in row.numbers.items())
        cells = (source, row.functions, f"`{row.called}`", f"`{numbers}`", row.measure, row.given, f"`{row.formula}`",
                 f"{constant:.8f}", f"{ratio:.8f}", f"{off:.0e}", f"{run / float(LESS) / constant:.6f}", certified, refuted)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_SOURCES]) + "\n"


_COLUMNS = ("source", "class", "method", "numbers", "measure", "given", "constant", "published", "here", "off", "0.99",
            "certified", "refuted")
_RULE = ["---"] * 7 + ["---:"] * 4 + ["---"] * 2
_HEAD = """\
# Published tight constants

`python -m benchmarks.tight_constants` writes this page. A row says: after N rounds the measure is at most the constant times
what is given at the start, for all functions of the class, and no smaller constant will do; L = 1, mu = q. Here: what
`fedtheory.worst` finds; off: how far that is from the published number, relatively; 0.99: what the worst function measures
when the ordinary engine runs the method on it, over 0.99 times the constant: above 1 the smaller constant is broken.

Certified: whether `fedtheory worst` finds a proof in rational numbers, which the checker accepts, of the statement with the
constant times this factor. Refuted: the budget with which the referee refutes 0.99 times the constant, or else its verdict
and the largest ratio that it saw. A dash: claims have no words for the class or the method, or numbers are irrational. Not
of this kind: the least of several squares on the left is not linear in them.

A source in brackets: what it says of the constant, if not that it is proven to be tight. Methods and sequences are in
benchmarks/tight_methods.py, on one client unless the source says otherwise.
""".splitlines()
_SOURCES = """\
Sources: Abbaszadehpeivasti, de Klerk, Zamani 2022, Optimization Letters 16. Altschuler, Parrilo 2025, Journal of the ACM 72.
Drori, Teboulle 2014, Mathematical Programming 145. Giselsson, Boyd 2017, IEEE Transactions on Automatic Control 62. Goujaud,
Taylor, Dieuleveut 2022, arXiv:2205.15033. Grimmer, Shu, Wang 2024, arXiv:2410.16249. Kim 2024, arXiv:2412.04427. Kim,
Fessler 2016, Mathematical Programming 159. Kim, Fessler 2021, Journal of Optimization Theory and Applications 188. Nesterov
2003, Introductory lectures on convex optimization. Rockafellar 1976, SIAM Journal on Control and Optimization 14. Rotaru,
Glineur, Patrinos 2024, arXiv:2406.17506. Taylor, Drori 2023, Mathematical Programming 199. Taylor, Hendrickx, Glineur 2017a,
Mathematical Programming 161; 2017b, SIAM Journal on Optimization 27; 2018, Journal of Optimization Theory and Applications
178. Van Scoy, Freeman, Lynch 2018, IEEE Control Systems Letters 2. Zamani, Glineur 2025, SIAM Journal on Optimization 35.
""".splitlines()


if __name__ == "__main__":
    main()
