"""FAdamGC (Chen et al.): gradient correction in federated learning with adaptive optimisation."""
