"""The command fedtheory: reads arguments, prints tables. Holds no mathematics."""
