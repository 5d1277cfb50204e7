"""Lemmas for proofs that hypotheses about all functions exclude each other: a bound on gradients at all points contradicts
strong convexity, and an inequality that is printed for a function f at all points u and v may force f to be constant.

Losses have continuous gradients on all of R^dim, and dim is at least 1.
"""

from verify.checker.operators import require
from verify.checker.polynomials import ZERO, constant, of_atom

BOUNDS = ("G_lip", "G_lip_client", "steepest")  # of gradients; the last one is no name of a claim
POINTS = {"u": 1, "v": -1}  # and how often the points are counted in u - v


def bounded_gradients(args, reader, known, names):
    """G >= m r for any number r, where G bounds the gradients of client k everywhere, and its curvatures are at least m > 0;
    and S >= m^2 r^2, where S is the supremum of their squared lengths. S is a number only where something bounds it, so
    another number is named that is known to be at least S.

    The loss is strongly convex, and so has a minimiser x_*. Some x lies at the distance |r| from it, as dim >= 1. There
    |grad F_k(x)| >= m |r| (Nesterov, Lectures on Convex Optimization, 2018, Theorem 2.1.10), and G bounds it. Where G bounds
    the gradients of samples' losses or noisy gradients, it bounds their mean, too.
    """
    require(args[0] in (*reader.everywhere, "steepest") and args[0] in BOUNDS and len(args) == 4 + (args[0] == "steepest"),
            "the name of a bound at all points, a client, a curvature and a distance are asked for")
    k = reader.client(args[1], known, names)
    low, r, *most = (reader.number(a, known, names) for a in args[2:])
    premises = [(">=", of_atom(("entry", "mu_client", k)) - low), (">", low)]
    if args[0] == "steepest":
        supremum = of_atom(("steepest", k))
        require("'steepest'" not in repr(most), "a supremum is no bound of one")
        return [*premises, (">=", most[0] - supremum)], (">=", supremum - low * low * r * r)
    return premises, (">=", of_atom(("name", "G_lip") if args[0] == "G_lip" else ("entry", args[0], k)) - low * r)


def client_of_supremum(point, body):
    """The client k in an infimum of -|grad F_k(x)|^2 over all points x, which is minus the supremum of |grad F_k(x)|^2."""
    inner = body[2] if isinstance(body, list) and len(body) == 3 and body[:2] == ["*", -1] else None
    gradient = inner[1] if isinstance(inner, list) and len(inner) == 2 and inner[0] == "norm2" else None
    found = isinstance(gradient, list) and len(gradient) == 3 and (gradient[0], gradient[2]) == ("grad", point)
    require(found and isinstance(point, str) and gradient[1] != point, "a least value is one of -|grad F_k(x)|^2")
    return gradient[1]


def constant_functions(args, reader, known, names):
    """c + d >= 0, where one printed inequality (``args[0]``) forces every loss f to be constant and another one
    (``args[1]``) is 0 <= a (f(u) - f(v)) + ... + c |u - v|^2 + d, with u and v at the distance 1.

    Let the first be 0 <= a (f(u) - f(v)) + <u - v, b grad f(u) + b' grad f(v)> + c |u - v|^2. For u = v + h e with |e| = 1
    the right side is (a + b + b') h <e, grad f(v)> + o(h), as grad f is continuous. For small h of both signs it is not
    negative only if the factor of h is 0. So where a + b + b' is not 0, <e, grad f(v)> = 0 for all e and v.
    """
    forcing, other = (slack_coefficients(number, reader, known) for number in args)
    require_differences_only(forcing)
    require_differences_only(other)
    slope = (forcing["value u"] + forcing["slope u"] + forcing["slope v"]).number()
    require(not forcing["rest"].terms and slope, f"inequality {args[0]} does not force functions to be constant")
    return [], (">=", other["square"] + other["rest"])


def constant_curvature(args, reader, known, names):
    """A client's curvature is 0 where a printed inequality forces its loss to be constant."""
    number, k = args
    constant_functions([number, number], reader, known, names)
    return [], ("==", of_atom(("entry", "mu_client", reader.client(k, known, names))))


def require_differences_only(form):
    """Refuses an inequality that depends on more of the losses than f(u) - f(v)."""
    require(not (form["value u"] + form["value v"]).terms, "losses do not enter by their differences alone")


def slack_coefficients(number, reader, known):
    """The coefficients of f(u), f(v), <u - v, grad f(u)>, <u - v, grad f(v)>, |u - v|^2 and 1 in 'right - left', where
    'left <= right' is a printed inequality."""
    require(type(number) is int and 0 <= number < len(reader.printed), "no inequality of this number is printed")
    rule = reader.printed[number]
    require(rule["relation"] in ("<=", ">=") and not rule["over"], "an inequality at all points is asked for")
    small, large = (rule["left"], rule["right"])[:: 1 if rule["relation"] == "<=" else -1]
    return sum_coefficients([(large, 1), (small, -1)], reader, known)


def sum_coefficients(parts, reader, known):
    """The coefficients of a sum of formulas with signs."""
    found = dict.fromkeys(("value u", "value v", "slope u", "slope v", "square", "rest"), ZERO)
    for node, sign in parts:
        for name, p in coefficients_of(node, reader, known).items():
            found[name] = found[name] + p * constant(sign)
    return found


def coefficients_of(node, reader, known):
    """The coefficients of one side of an inequality."""
    head, *args = node if isinstance(node, list) else [node]
    if head == "+":
        return sum_coefficients([(a, 1) for a in args], reader, known)
    if head == "*":
        inner = [a for a in args if has_point(a)]
        require(len(inner) <= 1, "a product has one factor with points")
        factor = reader.number(["*", 1, 1, *(a for a in args if not has_point(a))], known, {})
        return {name: p * factor for name, p in coefficients_of(inner[0] if inner else 1, reader, known).items()}
    if head == "f" and len(args) == 1 and is_point(args[0]):
        return {f"value {args[0]}": constant(1)}
    if head == "norm2":
        times = multiple_of_difference(args[0], reader, known)
        return {"square": times * times}
    if head == "dot":
        slopes = [a for a in args if isinstance(a, list) and a[0] == "f_grad"]
        require(len(args) == 2 and len(slopes) == 1 and len(slopes[0]) == 2 and is_point(slopes[0][1]),
                "an inner product is one with a gradient")
        return {f"slope {slopes[0][1]}": multiple_of_difference(args[1 - args.index(slopes[0])], reader, known)}
    require(not has_point(node), f"{head} has no place in an inequality for all points")
    return {"rest": reader.number(node, known, {})}


def multiple_of_difference(node, reader, known):
    """The number c of a vector c (u - v)."""
    counted = dict.fromkeys(POINTS, ZERO)
    for part in node[1:] if isinstance(node, list) and node[0] == "+" else [node]:
        factors = part[1:] if isinstance(part, list) and part[0] == "*" else [part]
        points = [a for a in factors if is_point(a)]
        require(len(points) == 1 and not any(has_point(a) for a in factors if a != points[0]), "a vector is not u - v")
        counted[points[0]] += reader.number(["*", 1, 1, *(a for a in factors if a != points[0])], known, {})
    require(counted["u"] == -counted["v"], "a vector is not a multiple of u - v")
    return counted["u"]


def is_point(node): return isinstance(node, str) and node in POINTS


def has_point(node):
    return is_point(node) or (isinstance(node, list) and (node[0] in ("f", "f_grad") or any(map(has_point, node[1:]))))


LEMMAS = {"bounded gradients": bounded_gradients, "constant functions": constant_functions,
          "constant curvature": constant_curvature}
