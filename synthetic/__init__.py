"""Federations: m clients with losses, gradient noise, and constants that are known exactly or proven."""

from synthetic.arrays import EXACT, NUMPY, TORCH, Backend, to_numpy
from synthetic.constants import Constant, Constants
from synthetic.cosine_quadratic import CosineQuadratic
from synthetic.draws import Draws, EnumeratedDraws
from synthetic.factored import Factored, factored
from synthetic.federation import Federation
from synthetic.from_arrays import from_arrays
from synthetic.generalised_linear import GeneralisedLinear
from synthetic.huber import Huber
from synthetic.layered import layered_quadratic
from synthetic.least_squares import LeastSquares
from synthetic.logistic import BinaryLogistic, SoftmaxLogistic
from synthetic.make_cosine import make_cosine_quadratic
from synthetic.make_quadratic import make_quadratic
from synthetic.noise import FiniteNoise, GaussianNoise, NoNoise, SphereNoise
from synthetic.partitions import dirichlet, even, shards
from synthetic.perceptron import Perceptron
from synthetic.piecewise import Piecewise
from synthetic.quadratic import Quadratic
from synthetic.random_data import random_generalised_linear, random_least_squares, random_logistic, random_perceptron
from synthetic.real_data import real_federation
from synthetic.registry import make_problem, problem_names, problem_options
from synthetic.scalar_losses import ScalarLoss
from synthetic.synth import noisy_copies, synth, synth_data, synth_noisy
from synthetic.worst_cases import flat_and_steep, huber_worst_case, nesterov_chain

__all__ = [
    "EXACT", "NUMPY", "TORCH", "Backend", "BinaryLogistic", "Constant", "Constants", "CosineQuadratic", "Draws",
    "EnumeratedDraws", "Factored", "Federation", "FiniteNoise", "GaussianNoise", "GeneralisedLinear", "Huber",
    "LeastSquares", "NoNoise", "Perceptron", "Piecewise", "Quadratic", "ScalarLoss", "SoftmaxLogistic", "SphereNoise",
    "dirichlet", "even", "factored", "flat_and_steep", "from_arrays", "huber_worst_case", "layered_quadratic",
    "make_cosine_quadratic", "make_problem", "make_quadratic", "nesterov_chain", "noisy_copies", "problem_names",
    "problem_options", "random_generalised_linear", "random_least_squares", "random_logistic", "random_perceptron",
    "real_federation", "shards", "synth", "synth_data", "synth_noisy", "to_numpy",
]
