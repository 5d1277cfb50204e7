"""Y. Sun, L. Shen, D. Tao, "A-FedPD: Aligning Dual-Drift is All Federated Primal-Dual Learning Needs"."""
