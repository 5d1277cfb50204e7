"""Methods that the stand-alone checker refuses: they need more of a federation than any certificate has."""


def fedpara(run):
    """FedAvg on the factors of a model: clients' losses in a certificate have no factors."""
    raise ValueError("fedpara trains factors of a model, which no certificate has")


def moon(run):
    """FedAvg with a contrastive term on the representations of samples under a model, of which certificates have none."""
    raise ValueError("moon compares representations of samples, which no certificate has")


#: name -> the method, and the names of its states
METHODS = {"fedpara": (fedpara, ()), "moon": (moon, ())}
