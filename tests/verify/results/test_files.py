"""Files are written whole or not at all."""

import math
import os
import re

import pytest

from fedtheory import load_trajectory
from verify.exact.check import read as read_certificate
from verify.results import files
from verify.results.files import file_name, read_json, replacing, writable_directory, write_json, write_text


@pytest.mark.parametrize("old", [None, "old"])
def test_failing_write_leaves_what_was_there(tmp_path, old):
    path = tmp_path / "file.txt"
    if old:
        path.write_text(old)
    with pytest.raises(RuntimeError), replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert [p.read_text() for p in tmp_path.iterdir()] == ([old] if old else [])


def test_interrupted_rename_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "verdicts.json"
    write_json(path, [1, 2, 3])
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_json(path, [])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["verdicts.json"]


def test_data_that_json_lacks_is_not_written(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "x.json", {"a": math.nan})
    assert list(tmp_path.iterdir()) == []


def test_unwritable_places_are_one_line(tmp_path):
    write_text(tmp_path / "file", "x")
    for action in (lambda: writable_directory(tmp_path / "file"), lambda: writable_directory(tmp_path / "file" / "sub"),
                   lambda: write_text(tmp_path / "file" / "sub", "y"), lambda: write_text(tmp_path, "y")):
        with pytest.raises(ValueError, match=r"^cannot write [^\n]+$"):
            action()
    with pytest.raises(ValueError, match=re.escape(f" {tmp_path / 'file'}: ") + ".*directory"):
        writable_directory(tmp_path / "file")


def test_binary_files_are_not_json(tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_json(tmp_path / "x.json", "certificate")


@pytest.mark.parametrize("one, other", [("a/b", "a__b"), ("a@b", "a_at_b"), ("a+b", "a_and_b"), ("a b", "a_20_b"),
                                        ("é", "e"), ("..", "_.."), ("a/b@c", "a@b/c")])
def test_different_ids_have_different_file_names(one, other):
    names = file_name(one), file_name(other)
    assert names[0] != names[1]
    assert all(set(n) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") and n.strip(".") for n in names)


def test_long_ids_have_names_that_file_systems_take(tmp_path):
    ids = [f"a/{'@' * 100}{end}" for end in ("", "@", "+", "/x")]
    names = {file_name(one) for one in ids}
    assert len(names) == len(ids) and max(map(len, names)) <= 200
    for name in names:
        write_json(tmp_path / f"{name}-12345678.json", {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a matter of POSIX")
@pytest.mark.parametrize("read", [lambda path: read_json(path, "result"), read_certificate, load_trajectory])
def test_pipes_and_devices_are_not_read(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(ValueError, match="ordinary file"):
            read(tmp_path / name)
