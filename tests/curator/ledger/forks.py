"""What is done with forks, in processes of their own."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings

from curator.ledger.counting import charging, counting
from discreet.curator.ledger import open_store
from discreet.errors import LedgerUnavailable


def in_child(work) -> int:
    """Run work in a fork that ends as a Python program does; return its process."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of forks beside threads, which are what is tested
        pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    sys.exit(0)


def status(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def use_on_both_sides(location: str, name: str | None) -> dict:
    ledger = counting(open_store(location, name=name), 100)
    for _ in range(10):
        ledger.decide("charge", charging())

    reading, writing = os.pipe()

    def ten_in_the_child() -> None:
        os.read(reading, 1)
        for _ in range(10):
            ledger.decide("charge", charging())

    def meanwhile(state, when):
        os.write(writing, b".")
        time.sleep(0.2)  # the child begins while the parent is inside a transaction
        return {"amount": 1}

    pid = in_child(ten_in_the_child)
    ledger.decide("charge", meanwhile)
    for _ in range(9):
        ledger.decide("charge", charging())
    child = status(pid)
    return {"child": child, "spent": ledger.state().spent, "entries": ledger.verify().entries}


def fork_beside_a_transaction(location: str, name: str | None) -> dict:
    ledger = counting(open_store(location, name=name), 100)
    order, entered = [], threading.Event()

    def slow(state, when):
        order.append("in")
        entered.set()
        time.sleep(0.3)
        order.append("out")
        return {"amount": 1}

    thread = threading.Thread(target=lambda: ledger.decide("charge", slow))
    thread.start()
    entered.wait()
    pid = in_child(lambda: ledger.decide("charge", charging()))
    order.append("forked")
    child = status(pid)
    thread.join()
    return {"child": child, "order": order, "entries": ledger.verify().entries}


def fork_inside_a_transaction(location: str, name: str | None, point: str, ending: str) -> dict:
    """The child leaves the transaction, or ends inside it; it neither writes nor undoes anything."""
    parent = os.getpid()
    children: list[int] = []

    def forking(reached: str) -> None:
        if reached != point or ledger.state().spent == 0 or children:
            return
        pid = os.fork()
        if pid:
            children.append(pid)
            time.sleep(0.3)
        elif ending == "exit":
            sys.exit(0)

    ledger = counting(open_store(location, name=name), 100, reached=forking)
    ledger.decide("charge", charging())
    try:
        ledger.decide("charge", charging())
    except LedgerUnavailable:
        refused = "forked" in str(sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1])
        sys.exit(0 if refused and os.getpid() != parent else 2)
    return {
        "child": status(children[0]),
        "entries": ledger.verify().entries,
        "spent": ledger.state().spent,
    }
