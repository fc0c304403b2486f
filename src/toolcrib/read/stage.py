"""The stage `read`: the model's arguments, read once, checked and kept."""

from __future__ import annotations

from toolcrib.flight import Flight
from toolcrib.read.reader import Reader


class Read:
    """Reads by the tool's reader, compiled at the first call and kept with the tool."""

    name = "read"
    closing = False

    def __call__(self, flight: Flight) -> None:
        tool = flight.tool
        assert tool is not None
        reader: Reader | None = tool.reader
        if reader is None:
            reader = tool.reader = Reader(tool)
        reading = reader.read(flight.raw, flight.given, flight.restore)
        if reading.notes:
            flight.notes = (*flight.notes, *reading.notes)
        if reading.problem is not None:
            flight.end("invalid_arguments", reading.problem)
            return
        flight.arguments = reading.arguments
        flight.values = reading.values
