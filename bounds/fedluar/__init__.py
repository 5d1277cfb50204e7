"""J. Kim et al., "Layer-wise update aggregation with recycling for communication-efficient federated learning" (FedLUAR)."""
