"""The reference workload by other means, one file each: ``build(workload)`` returns a call that computes all models."""
