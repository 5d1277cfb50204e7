"""Words of this paper's claims beyond the common language: arithmetic by coordinates, states of its methods, symbols.

Rounds are counted by ``r`` (the paper's t is r + 1), local steps by ``j`` and ``i`` (its k and k' are j + 1 and i + 1),
clients by ``k`` and ``other`` (its i).
"""

from __future__ import annotations

import sympy as sp

from bounds.language.words import PaperWord

__all__ = [
    "B", "C", "C_all", "C_beta", "G", "beta1", "beta2", "client_moment2", "client_moment2_max", "client_scalar_moment2",
    "client_variate", "eps", "eta", "eta_g", "factor", "highest", "least", "of_last_round", "other", "raised",
    "reciprocal", "root", "scaled", "server_variate", "sigma", "square", "tracked", "trackers", "upper", "z_x_round",
]


def _indexed(name):
    return sp.IndexedBase(name, real=True)


other, of_last_round = sp.Symbol("l", integer=True), sp.Symbol("s", integer=True)  # indices: a client; an earlier round

# states, before round r
client_variate = _indexed("client_variate")  # [r, k]: y_k
server_variate = _indexed("server_variate")  # [r]: y
client_moment2 = _indexed("client_moment2")  # [r, k]: the second moment v_k that the client keeps
client_moment2_max = _indexed("client_moment2_max")  # [r, k]: its running maximum, where that is kept
client_scalar_moment2 = _indexed("client_scalar_moment2")  # [r, k]: v_k where moments are of norms, a number
tracked = _indexed("tracked")  # [r, k]: 1 if client k renews y_k in round r, else 0
z_x_round = _indexed("z_x_round")  # [r]: the server's model of FA-NT's z-form, run from the same start

# hyper-parameters and constants
eta = sp.Symbol("eta", positive=True)  # the local step size at all times
eta_g = sp.Symbol("eta_g", positive=True)
beta1, beta2 = sp.Symbol("beta1", nonnegative=True), sp.Symbol("beta2", nonnegative=True)
eps = sp.Symbol("eps", positive=True)
trackers = sp.Symbol("trackers", integer=True, positive=True)  # clients that renew y_k in a round
sigma, G = sp.Symbol("sigma", positive=True), sp.Symbol("G", nonnegative=True)
B = sp.Symbol("sigma_g_max", nonnegative=True)  # sup over clients k and points v of |grad F_k(v) - grad F(v)|
factor = sp.Symbol("factor", positive=True)  # any positive number

# constants hidden in O(.)
C = sp.Symbol("C", positive=True)  # a number
C_beta = sp.Symbol("C_beta", positive=True)  # may depend on beta1 and beta2
C_all = sp.Symbol("C_all", positive=True)  # may depend on everything but the number of rounds


class scaled(PaperWord):
    """``scaled(u, w, a)``: u / (w + a) by coordinates, with 0/0 = 0; w is a vector or a number, a is a number."""

    nargs = 3
    unit_powers = ((0, 1), (1, -1))
    alike = (1, 2)
    latex_form, text_form = r"\frac{<0>}{<1> + <2>}", "(<0>) ⊘ (<1> + <2>)"


class reciprocal(PaperWord):
    """``reciprocal(w, a)``: the vector with coordinates 1 / (w + a)."""

    nargs = 2
    unit_powers = ((0, -1),)
    alike = (0, 1)
    latex_form, text_form = r"\frac{1}{<0> + <1>}", "1 ⊘ (<0> + <1>)"


class root(PaperWord):
    """``root(v)``: square roots by coordinates."""

    nargs = 1
    unit_powers = ((0, sp.Rational(1, 2)),)
    latex_form, text_form = r"\sqrt{<0>}", "√(<0>)"


class square(PaperWord):
    """``square(v)``: squares by coordinates."""

    nargs = 1
    unit_powers = ((0, 2),)
    latex_form, text_form = r"\left(<0>\right)^{\odot 2}", "(<0>)⊙²"


class highest(PaperWord):
    """``highest(i, low, high, v)``: the largest v for i = low .. high, by coordinates; of numbers, the largest number."""

    nargs = 4
    binds = 0
    unit_powers = ((3, 1),)
    latex_form, text_form = r"\max_{<1> \le <0> \le <2>} <3>", "max_{<1>≤<0>≤<2>} <3>"


class upper(PaperWord):
    """``upper(v, w)``: the larger of two vectors, by coordinates; of two numbers, the larger one."""

    nargs = 2
    unit_powers = ((0, 1),)
    alike = (0, 1)
    latex_form, text_form = r"\max\left(<0>, <1>\right)", "max(<0>, <1>)"


class raised(PaperWord):
    """``raised(v, a)``: the number a added to every coordinate of v."""

    nargs = 2
    unit_powers = ((0, 1),)
    alike = (0, 1)
    latex_form, text_form = r"\left(<0> + <1>\right)", "(<0> + <1>)"


class least(PaperWord):
    """``least(v)``: the smallest coordinate of a vector."""

    nargs = 1
    unit_powers = ((0, 1),)
    latex_form, text_form = r"\min_c \left[<0>\right]_c", "min_c [<0>]_c"
