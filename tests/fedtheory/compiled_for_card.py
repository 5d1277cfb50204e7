"""Compiles the kernels of the card for an H100, on any machine.

``python -m tests.fedtheory.compiled_for_card losses`` (or ``sizes``).

The interpreter takes programs that the compiler refuses. Prints what does not compile, or does not fit into shared memory.
"""

import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource

from fedtheory import card_kernels
from fedtheory.card_steps import PRECISION, Tile, tiles_of
from fedtheory.compiled_problem import LOSSES

SHARED = 232448  #: bytes of shared memory that a program may take
SIZES = {  # kind, n, d, runs, whether they share data
    "the reference workload": ("data", 50, 100, 4096, True), "one run": ("data", 50, 100, 1, True),
    "own data": ("data", 50, 100, 64, False), "many samples": ("data", 300, 100, 64, True),
    "wide": ("data", 50, 250, 64, True), "wide, own data": ("data", 50, 1000, 64, False),
    "dense": ("dense", 100, 100, 64, True), "dense, own data": ("dense", 100, 100, 64, False),
    "diagonal": ("diagonal", 1, 300, 64, True),
}


def compiled(tile: Tile, dtype: str, kind: str, n: int, d: int, loss: str, **flags):
    """The compiled kernel."""
    kernel, letters = getattr(card_kernels, f"{tile.kernel}_kernel"), {"float32": "fp32", "float64": "fp64"}[dtype]
    constants = {"STEPS": 10, "N": n, "D": d, "KIND": kind, "LOSS": loss, "BR": tile.rows, "BN": tile.samples,
                 "BD": tile.width, "PRECISION": PRECISION[dtype],
                 **{name: flags.get(name, False) for name in ("RIDGE", "ALPHA", "SHIFT", "PULL", "PICKED")}}
    types = {name: "constexpr" if name in constants else "*i64" if name == "CHOSEN" else f"*{letters}" if name.isupper()
             else "i32" for name in kernel.arg_names}
    aligned = {(place,): [["tt.divisibility", 16]] for place, name in enumerate(kernel.arg_names) if types[name][0] == "*"}
    return triton.compile(ASTSource(kernel, types, constants, aligned), target=GPUTarget("cuda", 90, 32),
                          options={"num_warps": tile.warps, "num_stages": 1})


def sizes():
    """Every tile of several sizes: what it is, and the arguments of :func:`compiled`."""
    for dtype in PRECISION:
        for name, (kind, n, d, runs, shared) in SIZES.items():
            for tile in tiles_of(kind, dtype, n, d, runs, shared):
                yield name, (tile, dtype, kind, n, d, "square"), {"SHIFT": True}


def losses():
    """Every loss, and everything that may be added to a gradient."""
    for kernel, dtype in (("rows", "float32"), ("alone", "float64")):
        tile = Tile(kernel, 16, 16, 16, 2)
        for loss in LOSSES:
            yield loss, (tile, dtype, "data", 5, 7, loss), {"RIDGE": True}
        flags = dict.fromkeys(("ALPHA", "SHIFT", "PULL", "PICKED"), True)
        yield "everything", (tile, dtype, "data", 5, 7, "square"), flags


def main(part: str) -> int:
    assert not card_kernels.INTERPRETED
    wrong = 0
    for name, arguments, flags in {"sizes": sizes, "losses": losses}[part]():
        try:
            kernel = compiled(*arguments, **flags)
            reason = None if kernel.metadata.shared <= SHARED else f"{kernel.metadata.shared} bytes of shared memory"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if reason is not None:
            wrong += 1
            print(f"{name}, {arguments}: {reason}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
