"""The command: python3 verify/checker CERTIFICATE.json [STATEMENT.json], or python3 -m verify.checker.

Replays a certificate. With a statement (``fedtheory show CLAIM --statement`` prints it) also compares the two.
Exit status: 0 accepted, and the statements are the same; 1 rejected; 2 not readable; 3 accepted, but compared with nothing.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for a start by the folder's name
from verify.checker.formats import check_of, shows
from verify.checker.intervals import number_text
from verify.checker.limits import read, text_of
from verify.checker.operators import replayed
from verify.checker.schema import differing


def main(paths):
    if not 1 <= len(paths) <= 2:
        print("one certificate, and perhaps one statement; got", len(paths), "files")
        return 2
    try:
        given, *stated = [read(text_of(path)) for path in paths]
    except (ArithmeticError, OSError, RecursionError, ValueError) as error:
        print("not readable:", error)
        return 2
    if "members" in given:
        print("a growth certificate is checked by `fedtheory check`; each of its members can be checked here")
        return 2
    if stated and (other := differing(given, stated[0])):
        print("rejected: the certificate and the statement differ:", ", ".join(other))
        return 1
    accepted, *said = replayed(check_of(given), given)
    print("accepted:" if accepted else "rejected:", *map(number_text, said))
    if accepted and not stated:
        print(f"compared with nothing: what is {shows(given)} is the statement in the certificate")
    return 1 if not accepted else 0 if stated else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
