"""The reference workload by other means, one file each: ``build(workload)`` answers a call that computes all models."""
