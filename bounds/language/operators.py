"""The operators and symbols in which claims are written, over runs of federated methods.

Expressions are ordinary sympy. A scalar symbol stands for a number of the instance, ``x[t]`` or ``x_local[t, k]`` for
vectors of R^dim. Times count local iterations over all rounds from 0, clients count from 0. A sum or product whose upper
limit lies below its lower one is empty: 0 or 1. Every operator has exactly one meaning, given here and implemented twice:
on batches by ``verify.evaluation``, in exact arithmetic by ``verify.checker``. ``bounds.language.names`` has a row for
every symbol.
"""

import sys
from typing import Self

import sympy as sp
from sympy.core.cache import cacheit

from bounds.language.names import GRADIENT, LOSS, ONE, Unit, symbol

__all__ = [
    "E", "E_noise", "E_round", "E_step", "F", "F_star", "F_star_client", "G_sq", "L", "L_client", "Max", "Min", "Product",
    "Sum", "below", "client_weight", "clients", "dot", "epsilon", "eta_l", "g", "grad", "i", "included", "iterations", "j",
    "k", "local_steps", "mu", "mu_client", "noise_bound", "norm", "norm2", "objective", "objective_grad", "participants",
    "priority", "r", "rounds", "sampled", "sampled_weight", "sigma_sq", "sigma_sq_client", "step_offset", "t", "tau",
    "x", "x_before", "x_broadcast", "x_local", "x_round", "x_sampled", "x_star",
]

#: sympy's own, each made once
Sum, Product = cacheit(sp.Sum), cacheit(sp.Product)


def Max(*arguments):
    """``sympy.Max`` without its slow search for arguments that are never the largest."""
    return sp.Max(*arguments, evaluate=False)


def Min(*arguments):
    """``sympy.Min`` without that search."""
    return sp.Min(*arguments, evaluate=False)


class Operator(sp.Function):
    """A function of the language. It never evaluates itself, and says how it is printed and which unit it has.

    Attributes:
        indices: positions of the arguments that are indices.
        binds: the position of the argument that is an index of its own, as in a sum.
        value: ``number`` or ``vector`` if all arguments but the indices must be vectors; else None.
        takes: then the kind of each argument: ``number``, ``vector``, ``index``, or ``either``; all ``either`` by default.
        gives: then ``number``, ``vector``, or the position of the argument whose kind it has.
        unit: its unit if all arguments but the indices must be models.
        unit_powers: else pairs (position, power): its unit is the product of these powers of the arguments' units.
        alike: positions of arguments that must have the same unit.
        latex_form, text_form: how it is printed, with ``<0>``, ``<1>``, ... for the arguments.
    """

    indices: tuple = ()
    binds: int | None = None
    value: str | None = None
    takes: tuple = ()
    gives: str | int | None = 0
    unit: Unit | None = None
    unit_powers: tuple = ()
    alike: tuple = ()
    latex_form = text_form = ""

    @cacheit
    def __new__(cls, *args):
        """Skip what sympy does for functions that evaluate themselves."""
        if len(args) not in cls._nargs:
            allowed = " or ".join(map(str, cls._nargs))
            raise TypeError(f"{cls.__name__} takes {allowed} argument(s), got {len(args)}")
        return sp.Expr.__new__(cls, *(sp.sympify(argument, strict=True) for argument in args))  # texts would be run

    @property
    def free_symbols(self):
        """All but the index that the operator binds."""
        found = super().free_symbols
        return found if self.binds is None else found - {self.args[self.binds]}

    def _eval_evalf(self, prec):
        """No digits: sympy would take ``E`` for the number e, which it finds by its name."""

    def kinds(self) -> tuple[str, ...]:
        """The kind of each argument: ``number``, ``vector``, ``index``, or ``either``."""
        other = "vector" if self.value else "either"
        return self.takes or tuple("index" if n in self.indices else other for n in range(len(self.args)))

    @classmethod
    def row(cls, call: str, meaning: str, latex_form: str, text_form: str, **attributes) -> type[Self]:
        """An operator of this kind: ``call`` has its name and arguments; ``attributes`` are those above."""
        name, _, arguments = call.rstrip(")").partition("(")
        where = sys._getframe(1).f_globals["__name__"]  # its module, by which it is pickled
        return type(cls)(name, (cls,), attributes | {
            "__doc__": f"``{call}``: {meaning}.", "__module__": where, "nargs": arguments.count(",") + 1,
            "latex_form": latex_form, "text_form": text_form})


class FurtherOperator(Operator):
    """An operator beyond the core; every claim that has one is shown with its meaning."""


class E(Operator):
    """``E(a)``: expectation over gradient noise, participation and client sampling. ``E(a, sampling)``: over the
    sampling of clients only, everything else given."""

    nargs = (1, 2)
    unit_powers = ((0, 1),)

    @property
    def latex_form(self):
        return r"\mathbb{E}" + (r"_{\mathcal{S}}" if len(self.args) == 2 else "") + r"\left[<0>\right]"

    @property
    def text_form(self):
        return f"𝔼{'_S' if len(self.args) == 2 else ''}[<0>]"


E_round = Operator.row(
    "E_round(a, r)", "expectation given everything before round r (rounds count from 0)",
    r"\mathbb{E}_{<1>}\left[<0>\right]", "𝔼_{<1>}[<0>]", indices=(1,), unit_powers=((0, 1),))
E_noise = FurtherOperator.row(
    "E_noise(a)", "expectation over gradient noise alone, the sampling of clients given",
    r"\mathbb{E}_{\zeta}\left[<0>\right]", "𝔼_ζ[<0>]", unit_powers=((0, 1),))
E_step = FurtherOperator.row(
    "E_step(a, t)", "expectation given everything before iteration t and who takes part in its round",
    r"\mathbb{E}_{t=<1>}\left[<0>\right]", "𝔼_{t=<1>}[<0>]", indices=(1,), unit_powers=((0, 1),))
norm2 = Operator.row("norm2(v)", "squared Euclidean norm of a vector", r"\left\|<0>\right\|^{2}", "‖<0>‖²",
                     value="number", unit_powers=((0, 2),))
norm = Operator.row("norm(v)", "Euclidean norm of a vector", r"\left\|<0>\right\|", "‖<0>‖",
                    value="number", unit_powers=((0, 1),))
dot = Operator.row("dot(v, w)", "inner product of two vectors", r"\left\langle <0>, <1>\right\rangle", "⟨<0>, <1>⟩",
                   value="number", unit_powers=((0, 1), (1, 1)))
below = FurtherOperator.row("below(a, b)", "1 where a <= b, else 0; its expectation is a probability",
                            r"\mathbf{1}\left[<0> \le <1>\right]", "1[<0> ≤ <1>]", unit_powers=((0, 0),), alike=(0, 1),
                            takes=("number", "number"), gives="number")
F = Operator.row("F(k, v)", "loss of client k at the point v", r"F_{<0>}\left(<1>\right)", "F_<0>(<1>)",
                 indices=(0,), value="number", unit=LOSS)
grad = Operator.row("grad(k, v)", "gradient of client k's loss at v", r"\nabla F_{<0>}\left(<1>\right)", "∇F_<0>(<1>)",
                    indices=(0,), value="vector", unit=GRADIENT)
objective = Operator.row("objective(v)", "the priority clients' weighted loss at v", r"F\left(<0>\right)", "F(<0>)",
                         value="number", unit=LOSS)
objective_grad = Operator.row("objective_grad(v)", "its gradient", r"\nabla F\left(<0>\right)", "∇F(<0>)",
                              value="vector", unit=GRADIENT)
tau = Operator.row(
    "tau(t)", "the last communication time, the largest multiple of ``local_steps`` that is at most t",
    r"\tau(<0>)", "τ(<0>)", indices=(0,), unit=ONE, gives="number")

sampling = sp.Symbol("sampling")  # a source of chance, in E(., sampling)

# indices
t, i, j, k, r = map(symbol, "tijkr")

# sizes; iterations are the local ones of all rounds, rounds x local_steps
clients, participants, local_steps, iterations, rounds = map(
    symbol, ("clients", "participants", "local_steps", "iterations", "rounds"))

# constants of the federation
L, mu, sigma_sq, G_sq = map(symbol, ("L", "mu", "sigma_sq", "G_sq"))
noise_bound = symbol("noise_bound")  # |g_k - grad F_k| <= noise_bound surely
L_client, mu_client, sigma_sq_client = map(symbol, ("L_client", "mu_client", "sigma_sq_client"))
client_weight, priority = symbol("client_weight"), symbol("priority")
F_star, F_star_client = symbol("F_star"), symbol("F_star_client")
x_star = symbol("x_star")  # a vector: the minimiser of the objective

# hyper-parameters
eta_l, epsilon, step_offset = symbol("eta_l"), symbol("epsilon"), symbol("step_offset")

# a run, by local iteration t
x = symbol("x")  # x[t]: virtual average at time t, before priority clients are sampled
x_sampled = symbol("x_sampled")  # x_sampled[t]: the same after sampling; the global model at communication times
x_local = symbol("x_local")  # x_local[t, k]: model of client k from which iteration t starts (after aggregation)
x_before = symbol("x_before")  # x_before[t, k]: model of client k at time t, before any aggregation at t
g = symbol("g")  # g[t, k]: stochastic gradient of client k at x_local[t, k]
included = symbol("included")  # included[t, k]: whether client k counts in the round of iteration t, 0 or 1
sampled_weight = symbol("sampled_weight")  # [t, k]: weight in place of client_weight[k] after sampling

# by round r = 0 .. rounds. Besides, every array of a method's state has a name: server_<name>[r] of the server and
# client_<name>[r, k] of client k, both before round r; local_<name>[t, k] is held by client k at iteration t
x_round = symbol("x_round")  # x_round[r]: the server's model before round r
x_broadcast = symbol("x_broadcast")  # x_broadcast[r]: the model that clients receive in round r
sampled = symbol("sampled")  # sampled[r, k]: whether client k takes part in the aggregation of round r, 0 or 1
