"""What users call from Python: what commands do, with a claim or a method given by name or by value."""
