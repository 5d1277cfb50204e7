"""Ravi and Shomorony, "Utilizing Free Clients in Federated Learning for Focused Model Enhancement" (FedALIGN)."""
