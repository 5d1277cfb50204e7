"""The reference workload by other means: each function takes the workload and returns a call that computes all models."""

import copy
import ctypes
import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import torch

from benchmarks.workload import Unavailable
from fedtheory.native import NoLibrary, library

__all__ = ["c_kernel", "fedjax_rounds", "jax_scan", "numpy_batched", "torch_batched", "torch_loaded", "torch_loop"]

# sums may be regrouped, as in every BLAS; nothing else of -ffast-math
FLAGS = ("-ffp-contract=fast", "-fassociative-math", "-fno-signed-zeros")
TYPES = {"float32": ("float", ctypes.c_float), "float64": ("double", ctypes.c_double)}


def c_kernel(workload):
    """C, compiled when the benchmark runs: the floor in practice for computing every local step."""
    real, number = TYPES[workload.dtype]
    openmp = "-fopenmp" if int(os.environ.get("OMP_NUM_THREADS", "1")) > 1 else "-fopenmp-simd"
    try:
        function = library(Path(__file__).with_name("fedavg.c"), *FLAGS, openmp, f"-Dreal={real}").fedavg
    except NoLibrary as reason:
        raise Unavailable(f"needs a C compiler, in the path or named by CC: {reason}") from None
    arrays = np.ctypeslib.ndpointer(workload.dtype, flags="C_CONTIGUOUS")
    function.argtypes, function.restype = (*[ctypes.c_long] * 5, arrays, arrays, number, arrays, arrays), None
    sizes = (workload.clients, workload.samples, workload.dim, workload.local_steps, workload.rounds)
    features, targets = workload.features, workload.targets
    models = np.zeros((workload.rounds + 1, workload.dim), workload.dtype)
    local = np.zeros((workload.clients, 2, workload.dim), workload.dtype)

    def run():
        function(*sizes, features, targets, workload.eta / workload.samples, models, local)
        return models

    return run


def numpy_batched(workload):
    """NumPy, all clients in one product."""
    features, targets = workload.features, workload.targets[:, None]
    across, step = features.transpose(0, 2, 1), features.dtype.type(workload.eta / workload.samples)

    def run():
        models = np.zeros((workload.rounds + 1, workload.dim), workload.dtype)
        for t in range(workload.rounds):
            local = np.broadcast_to(models[t], (workload.clients, 1, workload.dim))
            for _ in range(workload.local_steps):
                residual = local @ across
                residual -= targets
                change = residual @ features
                change *= step
                local = local - change
            models[t + 1] = local.mean(axis=(0, 1))
        return models

    return run


def torch_batched(workload):
    """torch, operation by operation, all clients in one product: what a careful user writes without a compiler."""
    features, targets = torch.tensor(workload.features), torch.tensor(workload.targets)[:, None]
    across, step = features.mT, workload.eta / workload.samples  # rows times matrices: MKL is slow at matrices times columns

    @torch.no_grad()
    def run():
        models = [torch.zeros(workload.dim, dtype=features.dtype)]
        for _ in range(workload.rounds):
            local = models[-1].expand(workload.clients, 1, workload.dim)
            for _ in range(workload.local_steps):
                residual = torch.baddbmm(targets, local, across, beta=-1)
                local = torch.baddbmm(local, residual, features, alpha=-step)
            models.append(local.mean(dim=(0, 1)))
        return torch.stack(models).numpy()

    return run


class LinearModel(torch.nn.Module):
    def __init__(self, dim, dtype):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(dim, dtype=dtype))

    def forward(self, features):
        return features @ self.weight


def torch_loop(workload, loader=False):
    """torch, client by client with nn.Module, autograd and SGD: what most users write; most have a ``loader`` as well."""
    features, targets = torch.tensor(workload.features), torch.tensor(workload.targets)
    sets = [torch.utils.data.TensorDataset(*pair) for pair in zip(features, targets, strict=True)]
    loaders = [torch.utils.data.DataLoader(one, batch_size=workload.samples) for one in sets]

    def batch(i):
        return next(iter(loaders[i])) if loader else (features[i], targets[i])

    def train(model, i):
        optimiser = torch.optim.SGD(model.parameters(), lr=workload.eta)
        for _ in range(workload.local_steps):
            inputs, outputs = batch(i)
            optimiser.zero_grad()
            loss = 0.5 * torch.nn.functional.mse_loss(model(inputs), outputs)
            loss.backward()
            optimiser.step()
        return model.state_dict()

    def run():
        server = LinearModel(workload.dim, features.dtype)
        models = [server.weight.detach().clone()]
        for _ in range(workload.rounds):
            trained = [train(copy.deepcopy(server), i) for i in range(workload.clients)]
            server.load_state_dict({name: torch.stack([one[name] for one in trained]).mean(0) for name in trained[0]})
            models.append(server.weight.detach().clone())
        return torch.stack(models).numpy()

    return run


torch_loaded = partial(torch_loop, loader=True)


def jax_scan(workload):
    """JAX: one compiled program, scan over rounds and local steps of vmap over clients of grad."""
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


def _look_in_peers():
    """Where ``make peers`` has installed FedJAX for this Python; what is installed here goes first."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(__file__).resolve().parents[1] / ".peers" / "jax" / "lib" / version / "site-packages"
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))


def fedjax_rounds(workload):
    """FedJAX 0.0.17, its own federated averaging."""
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
