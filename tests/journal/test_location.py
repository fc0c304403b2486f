"""Where a URL or a project puts the journal."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from toolcrib.errors import SettingsError
from toolcrib.journal.location import default_url, open_store


async def test_three_slashes_are_relative_and_four_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, name in (
        ("sqlite:///rel.db", "rel.db"), (f"sqlite:///{tmp_path}/abs.db", "abs.db"), ("sqlite:///a%20b.db", "a b.db"),
    ):  # fmt: skip
        store = open_store(url)
        assert not (tmp_path / name).exists()
        await store.open()
        assert (tmp_path / name).exists()
        await store.aclose()


async def test_no_path_means_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite://", "sqlite:///:memory:"):
        store = open_store(url)
        await store.open()
        await store.aclose()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "url", ["mysql://host/db", "crib.db", "", "sqlite://crib.db", "postgresql://host/db", "sqlite:///x.db?mode=ro"]
)
def test_what_is_no_url_of_a_journal_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)


async def test_a_project_has_a_journal_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    urls = []
    for name, mark in (("shop", "pyproject.toml"), ("other/shop", ".git"), ("50% off?", "toolcrib.toml")):
        inner = tmp_path / name / "src" / "deep"
        inner.mkdir(parents=True)
        (tmp_path / name / mark).mkdir() if mark == ".git" else (tmp_path / name / mark).touch()
        with caplog.at_level(logging.INFO, "toolcrib"):
            urls.append(default_url(inner))
        assert urls[-1] == default_url(tmp_path / name)
        store = open_store(urls[-1])
        await store.open()
        await store.aclose()
    assert len(set(urls)) == 3
    assert "shop-" in urls[0]
    assert urls[0].endswith("/crib.db")
    assert urls[0].removeprefix("sqlite:///") in caplog.text


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    with pytest.raises(SettingsError, match="cannot be made"):
        default_url(tmp_path)
