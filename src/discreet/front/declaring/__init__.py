"""What a file declares, in TOML: how it is read, and how a value of it is written.

- `toml_text`: keys, strings, numbers, bounds and limits as they are written in a file.
- `sections`: a section whose every key is known, and messages that name the one that is not.
- `typed_values`: values of columns that were typed as text, one by one or as the mapping of a CSV file.
- `fact_sections`: facts about rows, for synthetic tables.
- `ledger_place`: where a ledger is.
- `declaration`: the whole file.
"""
