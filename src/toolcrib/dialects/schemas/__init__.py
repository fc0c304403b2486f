"""How a tool's JSON Schema is shown to each provider, and how a model's arguments get back from there.

One module per provider offers `view(schema, *, name)`. All start from `tidy` (one modern dialect of JSON Schema,
local references only) and end with `keys` (names the provider takes); `merge` flattens what is spread over references,
allOf and unions; `restore` undoes on the arguments what was bent in the schema.
"""
