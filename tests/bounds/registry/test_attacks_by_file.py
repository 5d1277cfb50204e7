"""Claim files are data: nothing in them runs, and files made to hang or to mislead are refused at once, in one line."""

import os
import time

import pytest

from bounds.formulas.units import parse_unit
from bounds.registry.user_claims import PATHS, load_claims
from tests.messages import contains_in_order
from verify.cli.settings import exact_numbers, parse_numbers, parse_settings

TOML = '[[claim]]\nid = "mine/a"\nstatement = "L <= 1"\n'
SHELL = '''E("__import__('os').system('touch made')") <= 1'''
OPTION = "a …1e+15, …200 characters, …; got "

#: name of the file, text, and what the error says behind the name
FILES = {
    "shell": ("toml", TOML + f"assume = ['''{SHELL}''']\n", ", line 4: cannot read 'E("),
    "shell in a range": ("toml", TOML + f"assume = ['''L <= 1 for k in 0..{SHELL[:-5]}''']\n", ", line 4: cannot read 'E("),
    "shell as a limit": ("toml", TOML + f"limits = {{'''{SHELL}''' = 'oo'}}\n".replace("'''", '"""'), ": "),
    "shell as a name": ("toml", TOML + "variables = {\"__import__('os').system('touch made')\" = 'real'}\n",
                        ", line 4: \"__import__…name"),
    "long text": ("toml", TOML + f"assume = ['{'L' * 10001} <= 1']\n",
                  ", line 4: … 10000 characters; got 'LLL"),
    "full width": ("toml", TOML + "assume = ['Ｌ <= 1']\n", "line 4: cannot read 'Ｌ <= 1': 'Ｌ' (U+FF2C, fullwidth"),
    "long range": ("toml", TOML + "assume = ['L <= 1 for k in 0..10**9']\n", ", line 4: … 10000; got '10**9'"),
    "half a range": ("toml", TOML + "assume = ['L <= 1 for k in 0..']\n", ", line 4: …'for k in 0..clients-1'…; got"),
    "index": ("toml", TOML + "assume = ['L <= 1 for 1 in 0..2']\n", ", line 4: '1' …name"),
    "two ranges": ("toml", TOML + "assume = ['eta_l[k] <= 1 for k in 0..2 for k in 0..3']\n", ", line 4: …ranges…index k"),
    "limit": ("toml", TOML + "limits = {sqrt = 'oo'}\n", ", line 4: …'sqrt': sqrt …sqrt(...)"),
    "id of a look-alike": ("toml", TOML.replace("mine/a", "fedalign/theorem‑1"),
                           ", line 2: …<paper>/<block>…got 'fedalign/theorem‑1'"),
    "id of a folder": ("toml", TOML.replace("mine/a", "../x/y"), ", line 2: …<paper>/<block>…got '../x/y'"),
    "escape": ("toml", TOML + 'note = "\\u001b[2J"\n', ", line 4: 'note' …'\\x1b'"),
    "name in Greek": ("toml", TOML + "variables = {\"λ\" = 'real'}\n", ", line 4: 'λ' …name"),
    **{f"option {value}": ("toml", TOML + f"options = {{a = {value}}}\n", f", line 4: {OPTION}")
       for value in ("nan", "inf", "1e16", "1979-05-27", "{b = 1}", "[[1]]")},
    "long option": ("toml", TOML + f"options = {{a = '{'x' * 201}'}}\n", f", line 4: {OPTION}"),
    "method": ("toml", TOML + "method = 3\n", ", line 4: 'method' is text; got 3"),
    "number": ("toml", TOML + f"number = {'9' * 5000}\n", "(4300 digits)…5000 digits"),
    "brackets": ("toml", "x = " + "[" * 10**5, ", line 1: … 100 brackets"),
    "key of many parts": ("toml", TOML + ".".join("a" * 40000) + " = 1\n", ", line 4: … 300 points; got 39999"),
    "table of many parts": ("toml", "[[" + ".".join("a" * 40000) + "]]\n", ", line 1: … 300 points; got 39999"),
    "huge": ("toml", "#" * 300001, ".toml: … 300000 characters"),
    "no UTF-8": ("toml", b"\xff", "utf-8"),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_claims_are_refused_at_once(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ending, text, message = FILES[name]
    path = tmp_path / f"mine.{ending}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    start = time.process_time()
    with pytest.raises(ValueError, match=rf"mine\.{ending}") as error:
        load_claims(path)
    said = str(error.value)
    assert contains_in_order(said, message) and "\n" not in said and len(said) < 1200
    assert time.process_time() - start < 2 and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("command", ["show", "lint", "verify", "chain"])
def test_a_formula_runs_no_command(command, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PATHS, "")
    (tmp_path / "mine.toml").write_text(f"[[claim]]\nid = \"mine/a\"\nstatement = '''{SHELL}'''\n")
    status, out, said = run(command, "mine.toml")
    assert status == 2 and out == "" and os.listdir(tmp_path) == ["mine.toml"]
    assert contains_in_order(said.replace("\n", " "), "mine.toml, line 3: …__import__…quotes")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a matter of POSIX")
def test_pipes_devices_and_folders_are_no_claim_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    (tmp_path / "folder.toml").mkdir()
    for name in ("pipe", "zero"):
        with pytest.raises(ValueError, match=rf"{name}[.]toml: .*ordinary"):
            load_claims(tmp_path / f"{name}.toml")
    with pytest.raises(ValueError, match=r"a folder with a file paper\.toml; .*folder\.toml has none"):
        load_claims(tmp_path / "folder.toml")


@pytest.mark.parametrize("value", ["1e1000000000", "1:2:1e1000000000", "[1/3, 1e999999999]", "１", "9" * 5000, "1/0"])
@pytest.mark.parametrize("read", [parse_numbers, exact_numbers])
def test_settings_that_are_no_numbers_are_refused_at_once(read, value):
    start = time.process_time()
    with pytest.raises(ValueError, match=r"^L .*; got ") as error:
        read([f"L={value}"])
    assert len(str(error.value)) < 300 and time.process_time() - start < 1


def test_settings_of_many_digits_or_brackets_stay_text_or_are_refused():
    assert parse_settings(["L=" + "9" * 5000]) == {"L": "9" * 5000}
    with pytest.raises(ValueError, match=r"--set L .*brackets"):
        parse_settings(["L=" + "[" * 5000])


@pytest.mark.parametrize("text", ["10**10**10", "exec(1)", "loss**loss", "(" * 99, "(" * 5000, "loss-loss", "import('os')"])
def test_units_are_products_of_powers(text):
    start = time.process_time()
    assert parse_unit(text) is None and time.process_time() - start < 0.5
