"""FedJAX: its federated averaging and FedProx, in float64.

FedJAX 0.0.17 calls ``jax.tree_map`` and its kin, which newer JAX has only under ``jax.tree_util``: they are put back.
"""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.tree_map = jax.tree_util.tree_map

import fedjax  # noqa: E402

from benchmarks.peers.corrections import load  # noqa: E402

__all__ = ["CORRECTIONS", "run"]

MODULES = {"FedAvg": "fedjax.algorithms.fed_avg", "FedProx": "fedjax.algorithms.fed_prox"}
CORRECTIONS = {}


def losses(x, batch, rng=None):
    """One loss a sample. FedJAX takes their mean, so each is d times its share of F_i."""
    return 0.5 * len(x) * (batch["x"] @ x - batch["y"]) ** 2


def run(job):
    module = load(MODULES[job.method], job.corrections)
    client, server = fedjax.optimizers.sgd(job.eta_l), fedjax.optimizers.sgd(job.hyper.get("eta_g", 1.0))
    batches = fedjax.ShuffleRepeatBatchHParams(
        batch_size=job.dim, num_epochs=None, num_steps=job.local_steps, skip_shuffle=True
    )
    if job.method == "FedAvg":
        gradient = jax.grad(lambda x, batch, rng: jnp.mean(losses(x, batch)))
        algorithm = module.federated_averaging(gradient, client, server, batches)
    else:
        algorithm = module.fed_prox(losses, client, server, batches, proximal_weight=job.hyper["rho_prox"])
    data = [fedjax.ClientDataset({"x": job.roots[i], "y": job.targets[i]}) for i in range(job.clients)]
    state = algorithm.init(jnp.asarray(job.start))
    x = [np.array(state.params)]
    for t in range(job.rounds):
        keys = jax.random.split(jax.random.PRNGKey(t), job.clients)
        state, _ = algorithm.apply(state, [(b"%d" % i, data[i], keys[i]) for i in job.taking_part(t)])
        x.append(np.array(state.params))
    return {"x": x}
