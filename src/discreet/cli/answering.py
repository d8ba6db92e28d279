"""From a question to what is printed: previewed for nothing, or paid for and answered."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discreet.cli import charge_lines, declared, formatting, new_files, questions, rendering
from discreet.cli.bill import bill_lines
from discreet.cli.progress import note, working
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.curator import Preview, Release
    from discreet.front import Curator
    from discreet.front.bill import Bill
    from discreet.front.curator import Question

__all__ = ["Asking", "previewed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a command asks, and on which terms.

    Attributes
    ----------
    question : function of a curator
        Returns what is asked of its tables, and how the answer is told: a function of the release.
    terms : mapping
        What `Curator.ask` and `preview` take in addition.
    """

    question: Callable[[Curator], tuple[Question, Callable[[Release], Release]]]
    terms: dict[str, Any]

    @classmethod
    def of_text(cls, question: str, terms: dict[str, Any]) -> Asking:
        """Return a question in SQL, whose answer is told as it is."""
        return cls(question=lambda curator: (question, lambda release: release), terms=terms)

    def preview(self, options: Namespace, *, as_json: bool, **assumed: int) -> str:
        """Return what the answer would cost, and how wrong it would be; no ledger is made."""
        terms = {**self.terms, **assumed, "analyst": options.analyst}
        read = declared.declaration(options)
        with declared.rehearsal(read) as rehearsed:
            question, _ = self.question(rehearsed)
            found = rehearsed.preview(question, **terms)
            if not declared.exists(read.ledger):
                remark = "there is no ledger yet: as if nothing was spent"
                return previewed(found, remark, as_json=as_json)
            with declared.real(read, rehearsed) as curator:
                return previewed(curator.preview(question, **terms), "", as_json=as_json)

    def pay(self, options: Namespace) -> str:
        """Pay, answer, write the files that are wanted, and return what is printed."""
        from discreet.front.bill import bill_of

        read = declared.declaration(options)
        written = ("output", "label") if options.overwrite else ()
        for name in (*written, "log"):
            new_files.refuse_declared(name, getattr(options, name), declared.files(options, read))
        terms = {**self.terms, "analyst": options.analyst}
        with declared.rehearsal(read) as rehearsed:
            question, told = self.question(rehearsed)
            rehearsed.preview(question, **terms)
            is_new = not declared.exists(read.ledger)
            if is_new:
                rehearsed.check_fits(question, **terms)
            with declared.real(read, rehearsed) as curator, charge_lines.logging_charges(options.log):
                if is_new:
                    note("a new ledger was made; keep it: another one over the same data voids the guarantee")
                before = curator.charges_made
                with working("answering"):
                    release = told(curator.ask(question, **terms))
                paid_before = curator.charges_made == before
                bill = bill_of(curator, release, options.analyst, paid_before=paid_before)
                return _delivered(options, release, bill)


def _delivered(options: Namespace, release: Release, bill: Bill) -> str:
    """Write the files, and return what is printed. If a file fails, the answer is still in the store."""
    form = rendering.format_of(options)
    content = rendering.render(release, form, bill=bill.to_object())
    if options.label is not None:
        label = json.dumps(release.label, indent=2, ensure_ascii=False, allow_nan=False)
        new_files.write(options.label, f"{label}\n".encode(), overwrite=options.overwrite)
    if options.output is not None:
        new_files.write(options.output, content, overwrite=options.overwrite)
        return "\n".join([f"wrote {options.output}", *rendering.shell_remarks(release), bill_lines(bill)])
    text = content.decode().removesuffix("\n")
    if form == "table":
        return f"{text}\n\n{bill_lines(bill)}"
    note(bill_lines(bill))
    return text


def previewed(found: Preview, remark: str, *, as_json: bool) -> str:
    """Return what an answer would cost and how wrong it would be, for people or as JSON."""
    if not as_json:
        cost = "costs nothing: stored" if found.answered else f"costs {questions.cost(found.event)}"
        return "\n".join([str(found), *filter(None, [cost, remark])])
    from discreet.curator.release.json_form import preview_object

    return formatting.as_json(preview_object(found))
