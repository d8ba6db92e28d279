"""What a door does, without files, processes, hashes, engines or noise: exact fractions and lists."""

from __future__ import annotations

from discreet.curator import Period


class Refused(Exception):
    """It does not fit."""


class Model:
    """Pure epsilons of charges and reservations, by analyst and time."""

    def __init__(self, cap, share, renews, now):
        self.cap, self.share, self.renews, self.time = cap, share, renews, now
        self.period, self.counted, self.ever = self.period_of(now), [], []
        self.reserved, self.charged, self.answers = {}, set(), {}

    def period_of(self, time):
        return "" if self.renews is None else Period.named(self.renews).of(time)

    def total(self, analyst=None):
        used = [(name, amount) for name, amount, _ in self.counted]
        used += [(name, amount) for name, amount, _ in self.reserved.values()]
        return sum(amount for name, amount in used if analyst in (None, name))

    def begin(self, now):
        if self.period_of(max(self.time, now)) > self.period:
            self.time = max(self.time, now)
            self.period, self.counted = self.period_of(self.time), []

    def check(self, analyst, amount):
        if self.total() + amount > self.cap or self.total(analyst) + amount > self.share:
            raise Refused

    def spend(self, analyst, amount, now):
        self.time = max(self.time, now)
        self.counted.append((analyst, amount, self.time))
        self.ever.append(self.counted[-1])

    def charge(self, key, analyst, amount, now):
        if key not in self.charged:
            self.begin(now)
            self.check(analyst, amount)
            self.spend(analyst, amount, now)
            self.charged.add(key)

    def answer(self, key, content, now):
        if key not in self.answers:
            self.time = max(self.time, now)
        return self.answers.setdefault(key, content)

    def reserve(self, place, analyst, amount, now):
        self.begin(now)
        self.check(analyst, amount)
        self.time = max(self.time, now)
        self.reserved[place] = (analyst, amount, [])

    def use(self, place, amount, now):
        _, most, used = self.reserved[place]
        if sum(used) + amount > most:
            raise Refused
        used.append(amount)
        self.time = max(self.time, now)

    def settle(self, place, now):
        analyst, _, used = self.reserved.pop(place)
        self.time = max(self.time, now)
        if used:
            self.spend(analyst, sum(used), now)

    def amend(self, cap, share, renews, now):
        self.begin(now)
        before = self.cap, self.share, self.renews, self.period, self.counted
        self.cap, self.share, self.renews = cap, share, renews
        self.period = self.period_of(max(self.time, now))
        self.counted = [one for one in self.ever if self.period_of(one[2]) == self.period]
        names = {None: cap} | {one[0]: share for one in (*self.counted, *self.reserved.values())}
        if any(self.total(name) > most for name, most in names.items()):
            self.cap, self.share, self.renews, self.period, self.counted = before
            raise Refused
        self.time = max(self.time, now)
