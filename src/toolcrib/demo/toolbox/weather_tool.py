"""A plain function. Read-only, so its calls may overlap others and be repeated."""

from toolcrib import ToolError, tool

_HIGHEST = {"San Francisco": [17, 18, 16], "Paris": [11, 9, 10]}


@tool(read_only=True)
def weather(location: str, days: int = 1) -> dict[str, object]:
    """The weather forecast of a city.

    Args:
        location: The city's name, for example Paris.
        days: How many days, from today.
    """
    if location not in _HIGHEST:
        raise ToolError(f"no station in {location!r}; there is one in {' and one in '.join(_HIGHEST)}")
    return {"location": location, "highest_celsius": _HIGHEST[location][:days]}
