"""X. Li, K. Huang, W. Yang, S. Wang, Z. Zhang, "On the convergence of FedAvg on non-IID data", 2020 (as recalled)."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = ("theorems", "lemmas")
