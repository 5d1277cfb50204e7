"""The checking function of each format of certificates. Only the file of that format is loaded."""

#: what an accepted certificate shows of its claim, by the format
FORMATS = {
    "fedtheory certificate 4": "refuted",
    "fedtheory proof 2": "proven",
    "fedtheory rounds 1": "proven",
    "fedtheory proof of lengths 1": "proven",
    "fedtheory numbers 1": "proven",
    "fedtheory ill-posed 1": "ill-posed",
}


def shows(certificate):
    """The verdict that an accepted certificate shows: refuted, proven or ill-posed."""
    return FORMATS.get(str(certificate.get("format")), "refuted")


def check_of(certificate):
    """The function that checks a certificate."""
    match str(certificate.get("format")):
        case "fedtheory proof 2":
            from verify.checker.proof import check
        case "fedtheory rounds 1":
            from verify.checker.rounds import check
        case "fedtheory proof of lengths 1":
            from verify.checker.length_certificate import check
        case "fedtheory numbers 1":
            from verify.checker.number_proof import check
        case "fedtheory ill-posed 1":
            from verify.checker.contradiction import check
        case _:
            from verify.checker.counterexample import check
    return check
