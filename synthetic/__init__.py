"""Federations: m clients with losses, gradient noise, and constants that are known exactly or proven."""

from synthetic.arrays import EXACT, NUMPY, TORCH, Backend, to_numpy
from synthetic.constants import Constant, Constants
from synthetic.draws import Draws, EnumeratedDraws
from synthetic.federation import Federation
from synthetic.from_arrays import from_arrays
from synthetic.least_squares import LeastSquares
from synthetic.logistic import BinaryLogistic, SoftmaxLogistic
from synthetic.make_quadratic import make_quadratic
from synthetic.noise import FiniteNoise, GaussianNoise, NoNoise, SphereNoise
from synthetic.partitions import dirichlet, even, shards
from synthetic.quadratic import Quadratic
from synthetic.random_data import random_least_squares, random_logistic
from synthetic.real_data import real_federation
from synthetic.registry import make_problem, problem_names, problem_options
from synthetic.synth import noisy_copies, synth, synth_data, synth_noisy

__all__ = [
    "EXACT", "NUMPY", "TORCH", "Backend", "BinaryLogistic", "Constant", "Constants", "Draws", "EnumeratedDraws",
    "Federation", "FiniteNoise", "GaussianNoise", "LeastSquares", "NoNoise", "Quadratic", "SoftmaxLogistic",
    "SphereNoise", "dirichlet", "even", "from_arrays", "make_problem", "make_quadratic", "noisy_copies",
    "problem_names", "problem_options", "random_least_squares", "random_logistic", "real_federation", "shards",
    "synth", "synth_data", "synth_noisy", "to_numpy",
]
