"""Where tools come from: functions, folders of tool files, packages, plugins. `resolve.sources_of` is the door."""
