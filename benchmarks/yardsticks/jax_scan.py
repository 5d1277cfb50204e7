"""JAX: one compiled program, scan over rounds and local steps of vmap over clients of grad."""

from __future__ import annotations

import numpy as np

from benchmarks.workload import Unavailable

__all__ = ["build"]


def build(workload):
    try:
        import jax
    except ImportError:
        raise Unavailable("needs JAX: pip install -c constraints.txt -e '.[bench]'") from None
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    features, targets = jnp.asarray(workload.features), jnp.asarray(workload.targets)
    eta = features.dtype.type(workload.eta)

    def loss(model, features, targets):
        return 0.5 * jnp.mean((features @ model - targets) ** 2)

    def local_steps(model, features, targets):
        def step(local, _):
            return local - eta * jax.grad(loss)(local, features, targets), None

        return jax.lax.scan(step, model, None, length=workload.local_steps)[0]

    @jax.jit
    def rounds(start, features, targets):
        def one(model, _):
            model = jax.vmap(local_steps, (None, 0, 0))(model, features, targets).mean(axis=0)
            return model, model

        return jax.lax.scan(one, start, None, length=workload.rounds)[1]

    start = jnp.zeros(workload.dim, features.dtype)

    def run():
        return np.concatenate([start[None], rounds(start, features, targets)])

    return run
