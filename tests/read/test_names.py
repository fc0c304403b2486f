from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.call import Tool
from toolcrib.read.names import renamings
from toolcrib.read.reader import Reader

STRING = {"type": "string"}


@pytest.mark.parametrize(
    "name",
    ["city_name=", "city_name:", '"city_name"', "'city_name'", "`city_name`", " city_name ", "City_Name", "CITY_NAME",
     "cityName", "CityName", "city-name", "city name", "city.name", "--city-name", "$city_name", "ｃity_name",
     "“city_name”",
     '"city_name"=', "cityname"],
)  # fmt: skip
def test_a_bent_name_is_the_one_parameter_it_fits(schema_tool: Callable[..., Tool], name: str) -> None:
    reading = Reader(schema_tool({"city_name": STRING, "country": STRING})).read(json.dumps({name: "Pune"}))
    assert reading.arguments == {"city_name": "Pune"}
    assert len(reading.notes) == 1
    assert reading.notes[0].startswith("city_name: ")


@pytest.mark.parametrize(
    "given",
    [{"town": "Pune"}, {"city": "Pune"}, {"city_name": "Pune", "cityName": "Goa"}, {"CityName": "a", "city-name": "b"},
     {"": "x"}, {"=": "x"}, {"city_name=Pune": ""}, {"city_name": "a", "City_Name": "a"}],
)  # fmt: skip
def test_a_name_that_fits_none_or_is_given_twice_is_refused(
    schema_tool: Callable[..., Tool], given: dict[str, Any]
) -> None:
    assert Reader(schema_tool({"city_name": STRING})).read(None, given).arguments is None


def test_a_name_that_fits_several_parameters_is_refused(schema_tool: Callable[..., Tool]) -> None:
    tool = schema_tool({"user_id": STRING, "userId": STRING})
    assert Reader(tool).read('{"USER_ID": "x"}').arguments is None
    assert Reader(tool).read('{"userId=": "x"}').arguments == {"userId": "x"}


def test_in_an_open_object_another_name_is_data(schema_tool: Callable[..., Tool]) -> None:
    tool = schema_tool({"city": STRING}, additionalProperties=True)
    assert Reader(tool).read('{"City": "x"}').arguments == {"City": "x"}
    tool = schema_tool({"city": STRING}, additionalProperties=True, required=["city"])
    assert Reader(tool).read('{"City": "x"}').arguments == {"city": "x"}
    tool = schema_tool({"city": STRING}, patternProperties={"^x-": STRING}, additionalProperties=False)
    assert Reader(tool).read('{"x-City": "x", "CITY": "y"}').arguments == {"x-City": "x", "city": "y"}


def test_names_come_back_from_a_dialect_before_they_are_cleaned(schema_tool: Callable[..., Tool]) -> None:
    tool = schema_tool({"filter[id]": {"type": "integer"}})

    def restore(given: dict[str, Any]) -> dict[str, Any]:
        return {{"filter_id": "filter[id]"}.get(name, name): item for name, item in given.items()}

    reader = Reader(tool)
    assert reader.read('{"filter_id": 1}', restore=restore).arguments == {"filter[id]": 1}
    assert reader.read('{"filter_id": "1"}', restore=restore).arguments == {"filter[id]": 1}
    assert reader.read('{"filter_id=": 1}', restore=restore).arguments == {"filter[id]": 1}
    assert reader.read(None, {"filter_id": 1}, restore).arguments == {"filter[id]": 1}


@given(st.lists(st.text(alphabet="abAB_-= ", max_size=5), max_size=5), st.sets(st.text(alphabet="ab_", max_size=4)))
def test_renaming_never_overwrites_a_given_name(given: list[str], known: set[str]) -> None:
    unknown = [name for name in given if name not in known]
    renamed = renamings(unknown, given, known)
    assert set(renamed.values()).isdisjoint(given)
    assert len(set(renamed.values())) == len(renamed)
    assert set(renamed.values()) <= known
