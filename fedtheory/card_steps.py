"""The compiled path on a card: all local steps of a round in one Triton kernel (:mod:`fedtheory.card_kernels`).

A program of the kernel holds the data of one client and a tile of runs, and takes all of their steps on the chip. Runs that
share data and clients share a program; other runs have a program for each of their participants. The first call of a size
tries several tiles. Later calls never wait for the card and take nothing from the host's memory: a CUDA graph can hold them.
"""

from typing import NamedTuple

from array_api_compat import is_torch_array

from fedtheory.compiled_problem import fixed_numbers, problem_of, why_not_compiled
from fedtheory.graph import beside, capture

__all__ = ["CardSteps", "Tile", "tiles_of", "why_not_on_card"]

#: bytes of a number
TYPES = {"float32": 4, "float64": 8}
#: float32 by three tensor-core products, which keep its precision; one alone (tf32) has an error of 3e-4
PRECISION = {"float32": "tf32x3", "float64": "ieee"}
#: coordinates of models, padded to a power of two, up to which a client's data and a tile of runs fit on chip
LARGEST = {"dense": 128, "shared": 256, "own": 1024}
ENTRIES = 8192  # of a client's features that a program holds at a time; if there are more it passes over them in every step
RUNS = 4096  # beyond it the best tile stays what it is


class Tile(NamedTuple):
    """The parameters of a program: the kernel, ``rows`` runs, ``samples`` at a time, ``width`` coordinates, ``warps``."""

    kernel: str
    rows: int
    samples: int
    width: int
    warps: int


#: the fastest tile by (card, dtype, kind, n, d, whether data are shared, runs up to a power of two)
_FASTEST: dict[tuple, Tile] = {}


def _power(number: int, least: int = 1) -> int:
    """The smallest power of two of at least ``number`` and ``least``."""
    return max(least, 1 << (number - 1).bit_length())


def _kernels():
    """The kernels, or None where Triton is not installed."""
    try:
        from fedtheory import card_kernels
    except ImportError:
        return None
    return card_kernels


def why_not_on_card(algorithm, federation) -> str | None:
    """The reason, in words, why the local steps cannot be computed by the kernel; None if they can.

    On the processor they can where Triton interprets its kernels, which is for tests.
    """
    if reason := why_not_compiled(algorithm, federation):
        return reason
    backend = federation.backend
    if backend.library != "torch" or backend.dtype not in TYPES:
        return "the compiled steps on a card need torch, in float32 or float64"
    kernels, on_card = _kernels(), backend.device.startswith("cuda")
    if kernels is None:
        return "the compiled steps on a card need Triton, which is not installed"
    if not on_card and not (backend.device == "cpu" and kernels.INTERPRETED):
        return f"the compiled steps on a card need a CUDA device; got {backend.device!r}"
    kind = problem_of(federation).kind
    if kind == "diagonal":
        return None
    largest = min(LARGEST["own" if federation.instances > 1 else "shared"], LARGEST.get(kind, federation.dim))
    if federation.dim > largest:
        return f"a client's data do not fit on the chip with models of {federation.dim} numbers; allowed: at most {largest}"
    return None


def tiles_of(kind: str, dtype: str, n: int, d: int, runs: int, shared: bool) -> list[Tile]:
    """Tiles that may be the fastest, the likeliest first. They differ in speed, and in the order of sums, so in rounding."""
    if kind == "diagonal":
        width = _power(d) if d < 128 else 128
        return [Tile("diagonal", 1024 // width, 1, width, 4)]
    width = _power(d, 16)
    samples = width if kind == "dense" else min(_power(n, 16), 128, ENTRIES // width)
    few = samples * width <= 1024
    single = dtype == "float32" and kind != "dense"
    alone = [Tile("alone", 1, samples, width, warps) for warps in ((2, 4) if few else (4, 8) if single else (8, 16))]
    if not shared:
        return alone
    # measured on an H100 with 50 samples of 100 numbers; more than two take longer to compile than they save
    if width > 128:
        sizes = [(64, 8), (16, 4)] if dtype == "float32" else [(32, 8), (16, 4)]
    elif dtype == "float32":
        sizes = [(128, 8), (64, 4)] if runs >= 128 else [(32, 8), (16, 4)]
    else:
        sizes = [(64, 8), (32, 8)] if runs >= 64 else [(32, 8), (16, 4)]
    rows = [Tile("rows", size, samples, width, 4 if few else warps) for size, warps in sizes if size <= _power(runs, 16)]
    return alone[:1] + rows if runs <= 4 else rows


def _addressable(array):
    """The array, or a copy, with the last axis side by side in memory."""
    return array if array.stride(-1) == 1 or array.shape[-1] == 1 else array.contiguous()


class CardSteps:
    """The local steps of an algorithm on a federation: a call returns the participants after all steps of a round."""

    def __init__(self, algorithm, federation):
        import torch

        self.algorithm, self.federation, self.kernels = algorithm, federation, _kernels()
        self.problem = found = problem_of(federation)
        self.steps, self.dim, self.dtype = algorithm.local_steps, federation.dim, federation.backend.dtype
        self.features, self.targets = found.features.contiguous(), found.targets.contiguous()
        self.share = self.features if found.share is None else found.share.contiguous()
        self.numbers = federation.backend.array([found.ridge, 2 * found.alpha, 1 / found.width, found.scale / found.width])
        self.card = torch.cuda.get_device_name(self.features.device) if self.features.is_cuda else "cpu"
        self.own = federation.clients if federation.instances > 1 else 0
        self.fixed, self.tables = fixed_numbers(algorithm), {}

    def _each_step(self, context, like):
        """Local steps and pulls, (runs | 1, steps) each; the pulls None if there are none."""
        runs, correction = like.shape[0], self.algorithm.correction
        if runs in self.tables:
            return self.tables[runs]
        different = 1 if self.fixed else self.steps
        contexts = [context._replace(iteration=context.round * self.steps + j) for j in range(different)]
        pulls = [correction.pull(each) for each in contexts]
        tables = tuple(None if values[0] is None else self._table(values, like)
                       for values in ([self.algorithm.step_size(each) for each in contexts], pulls))
        if self.fixed and not _capturing(like):  # what a graph makes belongs to the graph
            self.tables[runs] = tables
        return tables

    def _table(self, values, like):
        import torch

        if all(not hasattr(value, "ndim") and value == values[0] for value in values):
            return like.new_full((1, self.steps), float(values[0]))
        columns = [value.reshape(-1).to(like.dtype) if is_torch_array(value) else like.new_full((1,), float(value))
                   for value in values]
        runs = max(column.shape[0] for column in columns)
        return torch.stack([column.expand(runs) for column in columns], dim=1).expand(runs, self.steps).contiguous()

    def __call__(self, local, context):
        import torch

        x = _addressable(local.x.detach())
        runs, participants, dim = x.shape
        shift, clients = self.algorithm.correction.shift(local, context), context.clients
        eta, pull = self._each_step(context, x)
        out = torch.empty((runs, participants, dim), dtype=x.dtype, device=x.device)
        anchor = x if pull is None else _addressable(context.x.detach().expand(runs, dim))
        chosen = x if clients is None else clients.expand(runs, participants)
        more = x if shift is None else _addressable(shift.detach().expand(runs, participants, dim))
        arrays = (x, out, self.features, self.targets, self.share, more, anchor, eta, eta if pull is None else pull, chosen,
                  self.numbers)
        numbers = (runs, participants, self.own, x.stride(0), x.stride(1), more.stride(0), more.stride(1),
                   anchor.stride(0), _by_run(eta), 0 if pull is None else _by_run(pull), chosen.stride(0), chosen.stride(1))
        found = self.problem
        flags = (self.steps, found.n, dim, found.kind, found.loss, found.ridge != 0, found.alpha != 0, shift is not None,
                 pull is not None, clients is not None)

        def launch(tile: Tile):
            kernel = getattr(self.kernels, f"{tile.kernel}_kernel")
            programs = {"rows": -(-runs // tile.rows) * participants, "alone": runs * participants,
                        "diagonal": -(-runs * participants // tile.rows) * -(-dim // tile.width)}[tile.kernel]
            with torch.cuda.device_of(x):
                kernel[(programs,)](*arrays, *numbers, *flags, tile.rows, tile.samples, tile.width, PRECISION[self.dtype],
                                    num_warps=tile.warps, num_stages=1)

        alike = clients is None or clients.shape[0] == 1 or clients.stride(0) == 0  # the same clients in all runs
        self._on_fastest(launch, runs, not self.own and (alike or runs == 1), x)
        return local._replace(x=out)

    def _on_fastest(self, launch, runs, shared, x):
        """Launches the kernel with the tile that was fastest when sizes like these came first."""
        found, bucket = self.problem, min(_power(runs), RUNS)
        tiles = tiles_of(found.kind, self.dtype, found.n, self.dim, bucket, shared)
        key = (self.card, self.dtype, found.kind, found.n, self.dim, shared, bucket)
        if key in _FASTEST:
            tiles = [_FASTEST[key], *(tile for tile in tiles if tile != _FASTEST[key])]
        elif len(tiles) > 1 and x.is_cuda and not self.kernels.INTERPRETED and not _capturing(x):
            times = {tile: _seconds(launch, tile, x) for tile in tiles}
            tiles = sorted(tiles, key=times.__getitem__)
            _FASTEST[key] = tiles[0]
        _first_that_fits(launch, tiles)


def _by_run(table) -> int:
    """The stride of runs in (runs | 1, steps)."""
    return table.stride(0) if table.shape[0] > 1 else 0


def _capturing(array) -> bool:
    """Whether a CUDA graph is being captured."""
    import torch

    return array.is_cuda and torch.cuda.is_current_stream_capturing()


def _first_that_fits(launch, tiles):
    for tile in tiles[:-1]:
        if _fits(launch, tile):
            return
    launch(tiles[-1])


def _fits(launch, tile: Tile) -> bool:
    """Launches the kernel; False if the tile is too large for this card."""
    from triton.runtime.errors import OutOfResources, PTXASError

    try:
        launch(tile)
    except (OutOfResources, PTXASError):
        return False
    return True


def _seconds(launch, tile: Tile, x) -> float:
    """The time of some launches, the least of three; infinite if the tile does not fit.

    They are captured, since launching may take the host longer than the card needs.
    """
    import torch

    def some():
        for _ in range(4):
            launch(tile)

    if not _fits(launch, tile):
        return float("inf")
    with beside(x):
        repeat = capture(some, ())
    times = []
    for _ in range(3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        repeat()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return min(times)
