"""FedJAX 0.0.17, its own federated averaging."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.workload import Unavailable

__all__ = ["build"]


def _look_in_peers():
    """Where ``make peers`` has installed FedJAX for this Python; what is installed here goes first."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(__file__).resolve().parents[2] / ".peers" / "jax" / "lib" / version / "site-packages"
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


def build(workload):
    _look_in_peers()
    try:
        import jax

        jax.tree_map = jax.tree_util.tree_map  # which FedJAX calls, and newer JAX no longer has
        import fedjax
    except ImportError:
        raise Unavailable("needs FedJAX: make peers, or pip install -e '.[bench-peers]'") from None
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loss(model, batch, rng):
        return 0.5 * jnp.mean((batch["x"] @ model - batch["y"]) ** 2)

    batches = fedjax.ShuffleRepeatBatchHParams(
        batch_size=workload.samples, num_epochs=None, num_steps=workload.local_steps, skip_shuffle=True
    )
    eta = np.dtype(workload.dtype).type(workload.eta)
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(
        jax.grad(loss), fedjax.optimizers.sgd(eta), fedjax.optimizers.sgd(np.dtype(workload.dtype).type(1)), batches
    )
    rows = zip(workload.features, workload.targets, strict=True)
    data = [(b"%d" % i, fedjax.ClientDataset({"x": x, "y": y})) for i, (x, y) in enumerate(rows)]
    keys = jax.random.split(jax.random.PRNGKey(0), workload.clients)  # nothing is random

    def run():
        state = algorithm.init(jnp.zeros(workload.dim, workload.dtype))
        models = [np.asarray(state.params)]
        for _ in range(workload.rounds):
            state, _ = algorithm.apply(state, [(name, one, key) for (name, one), key in zip(data, keys, strict=True)])
            models.append(np.asarray(state.params))
        return np.stack(models)

    return run
