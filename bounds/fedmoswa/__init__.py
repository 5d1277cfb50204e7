"""J. Liu, Y. Liu, F. Shang, H. Liu, J. Liu, W. Feng, "Improving Generalization in Federated Learning with Highly
Heterogeneous Data via Momentum-Based Stochastic Controlled Weight Averaging" (FedSWA and FedMoSWA)."""
