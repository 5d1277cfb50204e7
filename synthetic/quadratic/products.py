"""Products of samples with models, for many runs at once; runs that share data become rows of one product."""

from synthetic.numbers.arrays import namespace

__all__ = ["outer_sums", "products", "solve_shared"]


def products(features, matrices):
    """W a for every sample a, (runs, participants, samples, outputs).

    ``features`` (runs | 1, participants, samples, inputs), ``matrices`` W (runs, participants, outputs, inputs).
    """
    runs, participants, outputs, inputs = matrices.shape
    if features.shape[0] > 1 or participants == 1 or not _repeated(matrices):
        return _times(matrices, features.swapaxes(2, 3)).swapaxes(2, 3)
    scores = matrices[:, 0].reshape(runs * outputs, inputs) @ features.reshape(-1, inputs).swapaxes(0, 1)
    return scores.reshape(runs, outputs, participants, -1).swapaxes(1, 2).swapaxes(2, 3)


def outer_sums(coefficients, features):
    """sum_i c_i a_i^T over the samples i, (runs, participants, outputs, inputs).

    ``coefficients`` c (runs, participants, samples, outputs), ``features`` (runs | 1, participants, samples, inputs).
    """
    return _times(coefficients.swapaxes(2, 3), features)


def _repeated(matrices) -> bool:
    """Whether all participants have one matrix, laid out for them without copying."""
    return (matrices.stride() if hasattr(matrices, "stride") else matrices.strides)[1] == 0


def _times(rows, matrices):
    """Rows (runs, participants, outputs, n) times matrices (runs | 1, participants, n, columns).

    Libraries are fastest at rows times matrices, even for a single row; runs that share matrices are stacked as rows.
    """
    if matrices.shape[0] > 1:
        return rows @ matrices
    runs, participants, outputs, n = rows.shape
    beside = rows.swapaxes(0, 1).reshape(participants, runs * outputs, n) @ matrices[0]
    return beside.reshape(participants, runs, outputs, matrices.shape[3]).swapaxes(0, 1)


def solve_shared(matrices, right):
    """M^-1 b, (runs, participants, n, columns), for M (runs | 1, participants, n, n) and b of the result's shape."""
    xp = namespace(right)
    runs, participants, n, columns = right.shape
    if matrices.shape[0] == 1 and runs > 1:
        beside = xp.permute_dims(right, (1, 2, 0, 3)).reshape(participants, n, -1)
        solved = xp.linalg.solve(matrices[0], beside).reshape(participants, n, runs, columns)
        return xp.permute_dims(solved, (2, 0, 1, 3))
    return xp.linalg.solve(matrices, right)
