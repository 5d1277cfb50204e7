"""Newton's method with conjugate gradients, for a batch of smooth strongly convex problems at once."""

from synthetic.numbers.arrays import namespace

__all__ = ["line_search", "minimise"]

_MOST_STEPS = 200


def minimise(value, gradient, hessian, start, mu: float, preconditioner=None, tolerance: float = 1e-12):
    """Minimisers of problems laid out as (..., dim), each proven to within ``tolerance`` of its minimum.

    Args:
        value, gradient, hessian: ``value(x)`` (...), ``gradient(x)`` (..., dim); ``hessian(x)`` returns a function
            that multiplies by the Hessian.
        start: (..., dim).
        mu: strong convexity of every problem; the suboptimality is at most |gradient|^2 / (2 mu).
        preconditioner: ``preconditioner(x)`` returns a function that multiplies by an approximate inverse Hessian, which
            must be symmetric positive definite.
        tolerance: allowed suboptimality. The iteration continues below it until the gradient no longer shrinks.

    Returns:
        the points (..., dim) and the proven suboptimality (...).

    Raises:
        ValueError: the tolerance is out of reach in this arithmetic.
    """
    xp = namespace(start)
    x, slope, level = start, gradient(start), value(start)
    gap = _dot(slope, slope) / (2 * mu)
    for _ in range(_MOST_STEPS):
        if bool(xp.all(gap <= tolerance * 1e-6)):
            break
        nearly_inverse = preconditioner(x) if preconditioner else lambda v: v
        step = _conjugate_gradients(hessian(x), -slope, nearly_inverse)
        trial, trial_level = line_search(value, x, level, slope, step)
        trial_slope = gradient(trial)
        trial_gap = _dot(trial_slope, trial_slope) / (2 * mu)
        better = (trial_gap < gap) | (gap > tolerance)
        if not bool(xp.any(better)):
            break
        x = xp.where(better[..., None], trial, x)
        slope = xp.where(better[..., None], trial_slope, slope)
        level, gap = xp.where(better, trial_level, level), xp.where(better, trial_gap, gap)
    worst = float(xp.max(gap))
    if not worst <= tolerance:
        raise ValueError(f"a minimum could not be solved to {tolerance:g}: reached {worst:g}; allowed: a larger ridge, "
                         "or features of a smaller scale")
    return x, gap


def _dot(a, b):
    return namespace(a).sum(a * b, axis=-1)


def _conjugate_gradients(product, right, nearly_inverse):
    """Solve ``product(step) = right`` up to a residual that shrinks with ``right`` (superlinear convergence)."""
    xp = namespace(right)
    size = _dot(right, right)
    allowed = xp.minimum(size, 0 * size + 1e-2) * 1e-2 * size
    step, residual = 0 * right, right
    direction = nearly_inverse(residual)
    level = _dot(residual, direction)
    for _ in range(4 * right.shape[-1] + 20):
        bent = product(direction)
        curvature = _dot(direction, bent)
        go = (_dot(residual, residual) > allowed) & (curvature > 0)
        if not bool(xp.any(go)):
            break
        length = xp.where(go, level, 0 * level) / xp.where(go, curvature, 0 * level + 1)
        step, residual = step + length[..., None] * direction, residual - length[..., None] * bent
        closer = nearly_inverse(residual)
        after = _dot(residual, closer)
        ratio = after / xp.where(level > 0, level, 0 * level + 1)
        direction, level = closer + ratio[..., None] * direction, after
    return step


def line_search(value, x, level, slope, step):
    """Points (..., dim) and values (...) after backtracking from ``step`` until Armijo's condition holds, up to rounding."""
    xp = namespace(x)
    descent, length = _dot(slope, step), 0 * level + 1
    rounding = 1e-14 * (1 + xp.abs(level))
    for _ in range(60):
        trial = x + length[..., None] * step
        trial_level = value(trial)
        short = trial_level <= level + 1e-4 * length * descent + rounding
        if bool(xp.all(short)):
            break
        length = xp.where(short, length, length / 2)
    return trial, trial_level
