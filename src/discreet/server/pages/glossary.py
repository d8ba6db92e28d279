"""A plain word for every term of art that a page uses: one click away from where it stands."""

from __future__ import annotations

__all__ = ["TERMS"]

TERMS = {
    "differential privacy": (
        "A promise about answers: whatever is published would have been about as likely if any one person's "
        "rows had not been in the data. Random noise, large enough to hide one person, makes it true."
    ),
    "epsilon": (
        "How much an answer may reveal about one person, at most. Small means private: at 0.1 one person "
        "changes the chance of any result by a tenth or so; at 3 by up to twenty times. It is also the "
        "price: epsilons of answers add up, until the budget is used."
    ),
    "delta": (
        "A small chance, such as one in a million, with which the promise of epsilon may be exceeded. 0 "
        "means never. A delta above 0 allows a noise that suits many groups better."
    ),
    "rho": "Another unit for what epsilon measures, which suits normal noise. It adds up in the same way.",
    "budget": (
        "The most that all answers together may reveal about one person. Every new answer uses some of it. "
        "What is used does not come back, unless the budget renews at a stated time."
    ),
    "noise": (
        "A random number that is added to each result, so that nobody can tell whether one person was "
        "counted. How large it is, on average, is public; what it was, nobody knows."
    ),
    "margin": (
        "How far an answer may be off because of noise: with the stated confidence, the exact result is "
        "within plus or minus this much. It is known before you pay, because it does not depend on the data."
    ),
    "interval": (
        "From where to where the exact result lies, with the stated confidence. Results are after the "
        "declared limits: rows beyond a person's limit are not counted, values beyond bounds count as the "
        "bound."
    ),
    "confidence": "How often an interval holds what it promises: 0.95 means 95 times out of 100.",
    "person": "Whose rows are protected together: all rows with the same value in this column.",
    "limit of rows": (
        "At most so many rows of one person count. Others are left out at random. It bounds how much one "
        "person can change a result, and so how much noise is needed."
    ),
    "bounds": (
        "The range that the owner declared for a column, without looking at the data. Values beyond it count "
        "as the nearest end. A narrow range needs less noise."
    ),
    "keys": (
        "The values by which a column can be grouped, declared by the owner. Groups are shown for all of "
        "them, also if they are empty, because which groups exist could reveal somebody."
    ),
    "preview": (
        "What a question would cost and how wrong its answer would be. It is calculated from declarations "
        "alone, spends nothing, and can be repeated at will."
    ),
    "free repeat": (
        "The same question with the same terms gets the same stored answer. That reveals nothing new, so it "
        "costs nothing."
    ),
    "label": (
        "What an answer promises, for programs and for the record: whose privacy, at what price, under which "
        "declarations and assumptions, and what it does not cover."
    ),
    "ledger": (
        "The account book: every charge is written here before rows are read, and nothing can be removed. "
        "Each entry carries a fingerprint of the one before, so that a change would be noticed."
    ),
    "head": (
        "The fingerprint of the latest entry. Keep a copy elsewhere: with it anyone can check later that "
        "nothing before it was changed or cut off."
    ),
    "cell": (
        "A column of numbers is cut into cells of equal width, and rows are counted in each. Ranges begin "
        "and end where a cell does: with a width of 10, from 20 up to 40, but not from 25."
    ),
    "scope": "What a key may be used for, such as preview or ask.",
    "role": "An owner does everything; an analyst previews and asks; an auditor reads the ledger only.",
    "cap": "The most that may be spent: by all together, and by each analyst under it.",
    "declaration": (
        "What the owner says is public about the tables: who is a person, limits, bounds, keys, and the "
        "budget. It is a file on the server's machine, and the ledger records every change of it."
    ),
    "version": (
        "A name for the state of the data. Change it when the data change: answers are stored, and one for "
        "other data would be wrong. It says nothing about the rows."
    ),
    "prepared": (
        "The table is kept ready, which makes answers much faster. Rows over the limit are then left out "
        "once, before any condition of a question, and later changes of the data are not seen."
    ),
    "two owners": (
        "The ledger may ask that two owners agree to every change. One proposes it, another one agrees in "
        "their own session. A key that was made over the network counts as its maker's."
    ),
    "exact counts": (
        "Counts without noise. They are not protected: whoever sees them may learn something about one "
        "person. They are for the owner of the data, who may look at the rows anyway, and for nobody else."
    ),
    "suggestion": (
        "Noisy counts of how large values are, or of how many rows people have, from which bounds or a limit "
        "are derived. It costs some of the budget, because it depends on the data; looking at the data "
        "instead would reveal something for which nobody paid."
    ),
}
"""What each term means, by the term."""
