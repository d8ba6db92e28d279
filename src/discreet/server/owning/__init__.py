"""What owners may do over the network: declare a table, change caps, compare rows with declarations.

- `owner_options`: what the person who started the server allows, and where tables may come from.
- `table_sections`: a table as it is stated, and the section of the declaration that says so.
- `file_changes`: the declaration with one thing changed, checked against what was meant, and written safely.
- `amending`: both records of a change, the file and the ledger, one after the other.
- `owner_words`: what a worker does for the words of owners.
- `proposals`: changes that wait for a second owner.
"""
