"""The words in which claims are written: sympy functions and indexed symbols over runs of federated algorithms.

Expressions are ordinary sympy. A scalar symbol stands for a number of the instance, ``x[t]`` or ``x_local[t, k]`` for
vectors of R^dim, and the functions below join them. Times count local iterations over all rounds from 0, clients from
0. A sum or product whose upper limit lies below its lower one is empty: 0 or 1. Every word has exactly one meaning,
given here and implemented twice: for batches of floats by ``verify.evaluate``, and for exact fractions by the
stand-alone checker.
"""

from __future__ import annotations

import sympy as sp
from sympy.core.cache import cacheit

__all__ = [
    "E", "E_round", "F", "F_star", "F_star_client", "G_sq", "L", "L_client", "Max", "Min", "PaperWord", "Product",
    "Sum", "client_weight", "clients", "dot", "epsilon", "eta_l", "g", "grad", "i", "included", "iterations", "j", "k",
    "local_steps", "mu", "mu_client", "noise_bound", "norm", "norm2", "objective", "objective_grad", "participants",
    "priority", "r", "rounds", "sampled", "sampled_weight", "sigma_sq", "sigma_sq_client", "step_offset", "t", "tau",
    "x", "x_before", "x_broadcast", "x_local", "x_round", "x_sampled", "x_star",
]

#: sympy's own, each made once
Sum, Product = cacheit(sp.Sum), cacheit(sp.Product)


def Max(*arguments):
    """``sympy.Max``, without the search for arguments that are never the largest, which takes long."""
    return sp.Max(*arguments, evaluate=False)


def Min(*arguments):
    """``sympy.Min``, likewise."""
    return sp.Min(*arguments, evaluate=False)


class _Word(sp.Function):
    """A function of the language; it never evaluates itself."""

    @cacheit
    def __new__(cls, *args):
        """The word with these arguments, without what sympy does for functions that do evaluate themselves."""
        if len(args) not in cls._nargs:
            allowed = " or ".join(map(str, cls._nargs))
            raise TypeError(f"{cls.__name__} takes {allowed} argument(s), got {len(args)}")
        return sp.Expr.__new__(cls, *map(sp.sympify, args))


class PaperWord(_Word):
    """A word that one paper adds: its first ``indices`` arguments are indices; ``<0>``, ``<1>``, ... stand for the
    arguments in its forms; ``unit_of`` numbers the argument whose unit it has, where it has one's;
    ``unit_powers`` lists pairs (argument, power) where its unit is a product of theirs; ``alike`` numbers arguments that
    must have one unit; ``binds`` numbers the argument
    that is an index of its own, as a sum has one."""

    indices = 0
    binds: int | None = None
    unit_of: int | None = None
    unit_powers: tuple = ()
    alike: tuple = ()
    latex_form = text_form = ""


class E(_Word):
    """``E(a)``: expectation over gradient noise, participation and client sampling. ``E(a, sampling)``: over the
    sampling of clients only, everything else given."""

    nargs = (1, 2)


class E_round(_Word):
    """``E_round(a, r)``: expectation given everything before round r (rounds count from 0)."""

    nargs = 2


class norm2(_Word):
    """Squared Euclidean norm of a vector."""

    nargs = 1


class norm(_Word):
    """Euclidean norm of a vector."""

    nargs = 1


class dot(_Word):
    """Inner product of two vectors."""

    nargs = 2


class F(_Word):
    """``F(k, v)``: loss of client k at the point v."""

    nargs = 2


class grad(_Word):
    """``grad(k, v)``: gradient of client k's loss at v."""

    nargs = 2


class objective(_Word):
    """``objective(v)``: the priority clients' weighted loss at v."""

    nargs = 1


class objective_grad(_Word):
    """``objective_grad(v)``: its gradient."""

    nargs = 1


class tau(_Word):
    """``tau(t)``: the last communication time, the largest multiple of ``local_steps`` that is at most t."""

    nargs = 1


sampling = sp.Symbol("sampling")  # names a source of chance in E(., sampling)


def _number(name, **assumptions):
    return sp.Symbol(name, **({"real": True} | assumptions))


def _indexed(name):
    return sp.IndexedBase(name, real=True)


# indices
t, i, j, k, r = (sp.Symbol(name, integer=True) for name in "tijkr")

# sizes
clients = _number("clients", integer=True, positive=True)
participants = _number("participants", integer=True, positive=True)
local_steps = _number("local_steps", integer=True, positive=True)
iterations = _number("iterations", integer=True, positive=True)  # local iterations in all: rounds x local_steps
rounds = _number("rounds", integer=True, positive=True)

# constants of the federation
L, mu = _number("L", positive=True), _number("mu", positive=True)
sigma_sq, G_sq = _number("sigma_sq", nonnegative=True), _number("G_sq", nonnegative=True)
noise_bound = _number("noise_bound", nonnegative=True)  # |g_k - grad F_k| <= noise_bound surely
L_client, mu_client = _indexed("L_client"), _indexed("mu_client")
sigma_sq_client = _indexed("sigma_sq_client")
client_weight, priority = _indexed("client_weight"), _indexed("priority")
F_star, F_star_client = _number("F_star"), _indexed("F_star_client")
x_star = _number("x_star")  # a vector: the minimiser of the objective

# hyper-parameters
eta_l, epsilon = _indexed("eta_l"), _indexed("epsilon")
step_offset = _number("step_offset", positive=True)

# a run
x = _indexed("x")  # x[t]: virtual average at time t, before priority clients are sampled
x_sampled = _indexed("x_sampled")  # x_sampled[t]: the same after sampling; the global model at communication times
x_local = _indexed("x_local")  # x_local[t, k]: model of client k from which iteration t starts (after aggregation)
x_before = _indexed("x_before")  # x_before[t, k]: model of client k at time t, before any aggregation at t
g = _indexed("g")  # g[t, k]: stochastic gradient of client k at x_local[t, k]
included = _indexed("included")  # included[t, k]: whether client k counts in the round of iteration t, 0 or 1

# by round r = 0 .. rounds; besides, every array of a method's state has its name: server_<name>[r] of the server,
# client_<name>[r, k] of client k, both before round r; local_<name>[t, k] is an array that client k holds at iteration t
x_round = _indexed("x_round")  # x_round[r]: the server's model before round r
x_broadcast = _indexed("x_broadcast")  # x_broadcast[r]: the model that clients receive in round r
sampled = _indexed("sampled")  # sampled[r, k]: whether client k takes part in the aggregation of round r, 0 or 1
sampled_weight = _indexed("sampled_weight")  # [t, k]: weight in place of client_weight[k] after sampling
