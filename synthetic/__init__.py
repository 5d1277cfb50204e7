"""Federations: m clients with losses, gradient noise, and constants that are known exactly or proven."""

from synthetic.base.constants import Constant, Constants
from synthetic.base.federation import Federation
from synthetic.base.noise import FiniteNoise, GaussianNoise, NoNoise, SphereNoise
from synthetic.data.factored import Factored, factored
from synthetic.data.from_arrays import from_arrays
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic, SoftmaxLogistic
from synthetic.data.perceptron import Perceptron
from synthetic.data.scalar_losses import ScalarLoss
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, Backend, to_numpy
from synthetic.numbers.draws import Draws, EnumeratedDraws
from synthetic.piecewise.piecewise import Huber, Piecewise
from synthetic.quadratic.cosine import CosineQuadratic, make_cosine_quadratic
from synthetic.quadratic.layered import layered_quadratic
from synthetic.quadratic.make import make_quadratic
from synthetic.quadratic.quadratic import Quadratic
from synthetic.registry import make_problem, problem_names, problem_options
from synthetic.sources.partitions import dirichlet, even, shards
from synthetic.sources.random_data import random_generalised_linear, random_least_squares, random_logistic, random_perceptron
from synthetic.sources.real_data import real_federation
from synthetic.sources.synth import noisy_copies, synth, synth_data, synth_noisy
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
