"""X. Li, K. Huang, W. Yang, S. Wang, Z. Zhang, "On the convergence of FedAvg on non-IID data", 2020 (as recalled)."""
