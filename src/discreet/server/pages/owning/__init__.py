"""The pages of owners: keys, caps, new tables, the check of declarations, and suggestions that are paid for.

- `key_pages`, `cap_pages`, `table_pages`, `check_pages`, `suggestion_pages`: the pages.
- `changes`: how a change is shown, made or agreed to; `table_forms`: what a browser sends of a table.
"""
