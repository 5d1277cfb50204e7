"""Quadratic federations with layers: block-diagonal Hessians, each block with its own curvature."""

import numpy as np

from synthetic.base.checks import finite, flag
from synthetic.base.federation import layer_sizes
from synthetic.numbers.arrays import NUMPY, TORCH, Backend
from synthetic.quadratic.make import make_quadratic
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["layered_quadratic"]


def layered_quadratic(
    clients: int = 10, sizes=(2, 3, 4), L=10.0, mu=1.0, *, isotropic: bool = False, homogeneous: bool = False,
    hessians: str = "diagonal", hessian_spread: float = 1.0, minimiser_spread: float = 1.0, distance: float = 1.0,
    noise: str | None = None, sigma=0.0, offsets=None, offset_spread: float = 0.0, weights=None, free_weights=None,
    priority=None, layers=None, instances: int = 1, seed: int = 0, backend: Backend = TORCH,
) -> Quadratic:
    """Quadratic clients whose Hessians have a block for each layer, drawn as by :func:`synthetic.make_quadratic`.

    Args:
        sizes: dimensions of the layers.
        L, mu: largest and smallest curvature of the blocks, a number or one per layer; a block of size 1 has L.
        isotropic: every block is L times the identity (``mu`` is not used).
        homogeneous: identical clients centred at 0: one Hessian, no spread, distance 0.
        hessians: ``diagonal``, or ``rotated`` blocks.
        minimiser_spread, distance: of every layer.
        layers: other layers than ``sizes``. All further arguments as in :func:`make_quadratic`.

    Raises:
        ValueError: as there; numbers that are not one per layer.

    Example:
        >>> federation = layered_quadratic(2, (1, 2), L=(3.0, 5.0), isotropic=True, homogeneous=True)
        >>> federation.curvature[0, 0].tolist(), federation.layers()
        ([3.0, 5.0, 5.0], (slice(0, 1, None), slice(1, 3, None)))
    """
    sizes = layer_sizes(sizes, int(np.sum(sizes)))
    tops, bottoms = (_per_layer(name, values, len(sizes)) for name, values in (("L", L), ("mu", mu)))
    if flag("homogeneous", homogeneous):
        hessian_spread = minimiser_spread = distance = 0.0
    blocks = []
    for number, (size, top, bottom) in enumerate(zip(sizes, tops, bottoms, strict=True)):
        single = size == 1 or flag("isotropic", isotropic)
        blocks.append(make_quadratic(
            clients, size, top, top if single else bottom, hessians=hessians, distance=distance, instances=instances,
            hessian_spread=0.0 if single else hessian_spread, minimiser_spread=minimiser_spread,
            seed=seed + 10**6 * number, backend=NUMPY))
    curvature = [block.curvature for block in blocks]
    curvature = np.concatenate(curvature, axis=-1) if hessians == "diagonal" else _block_diagonal(curvature, sizes)
    center = np.concatenate([block.center for block in blocks], axis=-1)
    rest = make_quadratic(clients, sum(sizes), 1.0, 1.0, noise=noise, sigma=sigma, offsets=offsets, weights=weights,
                          offset_spread=offset_spread, free_weights=free_weights, priority=priority, instances=instances,
                          seed=seed, backend=backend)
    federation = Quadratic(curvature, center, rest.offset, rest.weights, rest.priority, rest.noise, backend,
                           sizes if layers is None else layers)
    federation.name = f"quadratics with {len(sizes)} layers, {clients} clients"
    return federation


def _per_layer(name: str, values, layers: int) -> list[float]:
    array = finite(name, values)
    if array.shape not in ((), (layers,)):
        raise ValueError(f"{name} must be a number or one per layer ({layers}); got shape {array.shape}")
    return np.broadcast_to(array, (layers,)).tolist()


def _block_diagonal(blocks, sizes) -> np.ndarray:
    full = np.zeros((*blocks[0].shape[:2], sum(sizes), sum(sizes)))
    for block, end, size in zip(blocks, np.cumsum(sizes), sizes, strict=True):
        full[..., end - size:end, end - size:end] = block
    return full
