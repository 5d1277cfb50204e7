"""The command: python3 verify/checker CERTIFICATE.json, or python3 -m verify.checker CERTIFICATE.json."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for a start by the folder's name
from verify.checker.intervals import shown
from verify.checker.replay import check
from verify.checker.words import replayed

with open(sys.argv[1], encoding="utf-8") as certificate_file:
    given = json.load(certificate_file)
results = [replayed(check, member["certificate"]) for member in given.get("members", [{"certificate": given}])]
results = [[accepted, *map(shown, said)] for accepted, *said in results]
sys.exit(any([print("accepted:" if accepted else "rejected:", *said) or not accepted for accepted, *said in results]))
