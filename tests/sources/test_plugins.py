from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.plugins import Plugin, available, plugin_sources


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Installs a distribution that offers entry points of our group, and the module they point to."""
    modules = []
    monkeypatch.syspath_prepend(str(tmp_path))

    def installing(distribution: str, module: str, text: str, **points: str) -> None:
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(text)
        info = tmp_path / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[toolcrib.tools]\n{lines}")

    yield installing
    for module in modules:
        sys.modules.pop(module, None)


ACME = "from toolcrib import tool\n@tool\ndef weather() -> int: return 1\n@tool\ndef tide() -> int: return 1\n"


def test_plugins_can_be_listed_without_importing_them(install):
    install("acme-tools", "acme_mod", "raise RuntimeError", weather="acme_mod:weather")
    assert available() == [Plugin(name="weather", distribution="acme-tools 1.2", value="acme_mod:weather")]
    assert "acme_mod" not in sys.modules


def test_a_named_plugin_gives_its_tools_and_no_other_is_imported(install):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather", tide="acme_mod:tide")
    install("other-tools", "other_mod", "raise RuntimeError", other="other_mod:x")
    (source,) = plugin_sources("weather")
    (tool,) = source.tools()
    assert (source.name, tool.name, tool.source) == ("plugin:weather", "weather", "plugin:weather")
    assert "other_mod" not in sys.modules


def test_a_star_names_every_plugin(install):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather", tide="acme_mod:tide")
    assert [source.name for source in plugin_sources("*")] == ["plugin:tide", "plugin:weather"]


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("import no_such_package_here", "acme_mod:x", "no_such_package_here"),
        ("", "acme_mod:x", "x"),
        ("def x(): return 7", "acme_mod:x", "decorate it with @tool"),
        ("x = 7", "acme_mod:x", "type int"),
        ("x = (", "acme_mod:x", "syntax error"),
        ("import sys; sys.exit(1)", "acme_mod:x", "SystemExit"),
        ("", "no such value", "AttributeError"),
    ],
)
def test_a_broken_plugin_is_a_warning_that_names_its_distribution(install, text, value, reason):
    install("acme-tools", "acme_mod", text, broken=value)
    (source,) = plugin_sources("broken")
    assert source.tools() == []
    (warning,) = source.warnings
    assert "acme-tools 1.2" in str(warning)
    assert reason in str(warning)


def test_an_unknown_plugin_raises_and_names_the_nearest(install):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather")
    with pytest.raises(SourceError, match="plugin:weather"):
        plugin_sources("wether")


def test_a_name_that_two_packages_offer_is_never_guessed(install):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather")
    install("other-tools", "other_mod", ACME, weather="other_mod:weather")
    (source,) = plugin_sources("weather")
    assert source.tools() == []
    assert "acme_mod:weather of acme-tools 1.2" in str(source.warnings[0])


def test_a_distribution_found_twice_counts_once(install, tmp_path, monkeypatch):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather")
    again = tmp_path / "again" / "Acme_Tools-1.1.dist-info"
    again.mkdir(parents=True)
    (again / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme_Tools\nVersion: 1.1\n")
    (again / "entry_points.txt").write_text("[toolcrib.tools]\nweather = acme_mod:weather\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(again.parent)])
    (source,) = plugin_sources("weather")
    assert len(source.tools()) == 1


def test_broken_metadata_of_another_package_costs_nothing(install, tmp_path):
    install("acme-tools", "acme_mod", ACME, weather="acme_mod:weather")
    broken = tmp_path / "broken-1.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(b"\xff\xfe[toolcrib.tools]")
    assert [plugin.name for plugin in available()] == ["weather"]
