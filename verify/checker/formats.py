"""What checks a certificate, by its format. Only that file is loaded."""

from importlib import import_module

#: by the format: what an accepted certificate shows of its claim, and the file that checks it
FORMATS = {
    "fedtheory certificate 4": ("refuted", "counterexample"),
    "fedtheory proof 2": ("proven", "proof"),
    "fedtheory rounds 1": ("proven", "rounds"),
    "fedtheory proof of lengths 1": ("proven", "length_certificate"),
    "fedtheory numbers 1": ("proven", "number_proof"),
    "fedtheory ill-posed 1": ("ill-posed", "contradiction"),
}


def shows(certificate):
    """What a certificate shows, if it is accepted: refuted, proven or ill-posed."""
    return FORMATS.get(str(certificate.get("format")), ("refuted", ""))[0]


def check_of(certificate):
    """The function that checks a certificate."""
    _, file = FORMATS.get(str(certificate.get("format")), ("", "counterexample"))
    return import_module(f"verify.checker.{file}").check
