"""Owners: alive exactly as long as their process holds its file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcrib.journal.owner import Owner


def test_an_owner_lives_while_it_holds_its_file(tmp_path: Path) -> None:
    one, other = Owner(tmp_path / "owners"), Owner(tmp_path / "owners")
    one.hold()
    id = one.id
    assert other.alive(id)
    assert one.alive(id)
    one.let_go()
    assert not other.alive(id)
    assert os.listdir(tmp_path / "owners") == []
    assert one.id != id


@pytest.mark.skipif(os.name == "nt", reason="a file in use cannot be removed there")
def test_an_owner_whose_file_was_removed_holds_another_under_the_same_id(tmp_path: Path) -> None:
    one, other = Owner(tmp_path / "owners"), Owner(tmp_path / "owners")
    one.hold()
    (tmp_path / "owners" / one.id).unlink()
    assert not other.alive(one.id)
    one.hold()
    assert other.alive(one.id)
    one.let_go()


def test_an_owner_nobody_knows_is_dead_and_no_path_is_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    owner = Owner(tmp_path / "owners")
    owner.hold()
    for id in ("ffff", "", "../precious", "..", ".hidden"):
        assert not owner.alive(id)
    assert (tmp_path / "precious").exists()
    owner.let_go()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
def test_what_dead_owners_left_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    one, other = Owner(tmp_path / "owners"), Owner(tmp_path / "owners")
    one.hold()
    other.hold()
    (tmp_path / "owners" / "deadbeef").touch()
    other.sweep()
    assert set(os.listdir(tmp_path / "owners")) == {one.id, other.id}
    one.let_go()
    other.let_go()


def test_a_database_in_memory_knows_its_own_owner_alone() -> None:
    owner = Owner(None)
    owner.hold()
    assert owner.alive(owner.id)
    assert not owner.alive("other")
    owner.let_go()
