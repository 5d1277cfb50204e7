"""Conformance of federated methods: shapes, purity, symmetries, fixed points, special cases, laws and costs.

    >>> from fedtheory import fedavg
    >>> from fedtheory.testing import check_algorithm
    >>> report = check_algorithm(fedavg, quick=True).raise_if_failed()
    >>> report["purity"].outcome
    'passed'
"""

from fedtheory.testing.check import check_algorithm
from fedtheory.testing.federations import CASES, Case
from fedtheory.testing.foreign import Job, check_foreign
from fedtheory.testing.report import Report, Result

__all__ = ["CASES", "Case", "Job", "Report", "Result", "check_algorithm", "check_foreign"]
