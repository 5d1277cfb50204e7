"""What checks a certificate, by its format."""

from verify.checker import counterexample, length_certificate, number_proof, proof, rounds

#: certificates that prove what they state
PROOFS = {each.FORMAT: each.check for each in (proof, rounds, length_certificate, number_proof)}


def check_of(certificate):
    """The function that checks a certificate."""
    return PROOFS.get(str(certificate.get("format")), counterexample.check)
