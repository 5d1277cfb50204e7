"""FAdamGC (Chen et al.): gradient correction in federated learning with adaptive optimisation."""

#: modules with claims, in the order of the paper; each has a tuple CLAIMS
MODULES = (
    "theorems", "theorems_fa_nt", "lemmas", "table_1", "prose", "steps_a", "steps_a_lemma", "steps_b", "steps_d",
    "steps_d_lemmas", "steps_e",
)
