"""The words of a server for a browser: pages that are made here, on top of the same words and the same guard.

A page never speaks to a worker: it sends a word of ``/v1`` to the application that programs use, in the
name of the key that opened the session, and shows what comes back. So whatever holds for programs holds here.

- `sessions`, `browser`: who is logged in, and how browsers pass the guard.
- `forms`, `count_forms`: what they send.
- `inner_words`: how a page says a word; `templates`: how it is shown, with every value escaped.
- `entering_pages`, `reading_pages`, `asking_pages`, `counting_pages`, `owning`: the pages.
- `editors`: how a question is previewed, paid for and shown; `routes`: the addresses of pages.
- `declared_tables`, `budget_gauge`, `error_steps`, `answer_charts`, `count_charts`, `history`, `glossary`:
  what they show.
"""
