"""Real data sets that come with scikit-learn, split over clients."""

from dataclasses import dataclass

import numpy as np

from synthetic.base.checks import nearest, one_of, whole
from synthetic.data.federation import DataFederation
from synthetic.data.from_arrays import from_arrays
from synthetic.numbers.arrays import Backend
from synthetic.sources.partitions import PARTITIONS

__all__ = ["DATA_SETS", "load", "real_federation"]


@dataclass(frozen=True)
class DataSet:
    """A named data set: its loader in ``sklearn.datasets``, the usual task and scaling of its features."""

    loader: str
    task: str
    scaling: str
    about: str


DATA_SETS = {
    "digits": DataSet("load_digits", "softmax", "unit", "1797 images of digits, 8 x 8 pixels, 10 classes"),
    "breast-cancer": DataSet("load_breast_cancer", "binary", "standard", "569 tumours, 30 features, 2 classes"),
}


def load(name: str, scaling: str | None = None):
    """Features (rows, features) and labels (rows,) of a data set.

    ``scaling``: ``unit``, all features divided by one number so that the largest magnitude is 1 (default for digits:
    pixels from 0 to 1); ``standard``, each feature of mean 0 and variance 1 over all rows (default for breast-cancer;
    a constant feature becomes 0); ``none``.

    Raises:
        LookupError: unknown name. ValueError: unknown scaling.
    """
    import sklearn.datasets  # slow to import, and needed here only

    if name not in DATA_SETS:
        raise nearest("data set", name, DATA_SETS)
    features, labels = getattr(sklearn.datasets, DATA_SETS[name].loader)(return_X_y=True)
    scaling = one_of("scaling", scaling or DATA_SETS[name].scaling, ("unit", "standard", "none"))
    if scaling == "unit":
        features = features / np.abs(features).max()
    elif scaling == "standard":
        deviation = features.std(axis=0)
        features = (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return features, labels


def real_federation(
    name: str = "digits", clients: int = 10, partition="dirichlet", *, alpha: float = 0.5, shards_per_client: int = 2,
    smallest: int = 1, task: str | None = None, scaling: str | None = None, ridge: float = 1e-2,
    batch_size: int | None = None, noise=None, priority=None, weights=None, intercept: bool = False,
    layers=None, rows: int | None = None, held_out=None, seed: int = 0, backend: Backend | None = None, **model,
) -> DataFederation:
    """A real data set over ``clients`` clients.

    Args:
        name: ``digits`` (softmax regression, dim 640) or ``breast-cancer`` (binary logistic regression, dim 30).
        partition: ``even``, ``dirichlet`` (label skew ``alpha``, every client at least ``smallest`` samples),
            ``shards`` (``shards_per_client`` of one class each), or the client of each row (rows,).
        task: ``softmax``, ``perceptron``, ``binary`` (digits: even against odd numbers) or ``least-squares`` on the labels;
            default the data set's own.
        scaling: see :func:`load`. ``rows``: use so many rows, chosen at random; default all.
        ridge, batch_size, noise, priority, weights, intercept, layers, held_out, backend: see
            :func:`synthetic.from_arrays`; so are ``device``, ``dtype`` and the arguments ``model`` of a task's class.
            Samples are held out after they are dealt; features are scaled by all rows.

    Raises:
        LookupError: unknown data set. ValueError: see :func:`synthetic.from_arrays` and :mod:`synthetic.sources.partitions`.
    """
    X, y = load(name, scaling)
    task = task or DATA_SETS[name].task
    if rows is not None:
        chosen = np.random.default_rng([seed, 1]).permutation(len(y))[: whole("rows", rows, 2, len(y))]
        X, y = X[np.sort(chosen)], y[np.sort(chosen)]
    if isinstance(partition, str):
        one_of("partition", partition, PARTITIONS)
        options = {"even": {}, "dirichlet": {"alpha": alpha, "smallest": smallest},
                   "shards": {"shards_per_client": shards_per_client}}[partition]
        client = PARTITIONS[partition](y, clients, seed=seed, **options)
        how = {"even": "even", "dirichlet": f"dirichlet({alpha:g})", "shards": f"{shards_per_client} shards"}[partition]
    else:
        client, how = partition, "given partition"
    if task == "binary" and name == "digits":
        y = y % 2
    label = f"{name}, {clients} clients, {how}"
    return from_arrays(X, y, client, task=task, ridge=ridge, batch_size=batch_size, noise=noise, priority=priority,
                       weights=weights, intercept=intercept, clients=clients, layers=layers, name=label, held_out=held_out,
                       seed=seed, backend=backend, **model)
