"""Jobs: what they tell, to whom, and that nothing is paid twice."""

from __future__ import annotations

import asyncio
import io

import pytest

from discreet.server.catalogue import ServiceRefusal, problem_body
from discreet.server.jobs import Jobs
from discreet.server.keys import KeyFile
from discreet.server.request_log import RequestLog
from discreet.server.service_limits import ServiceLimits
from server.service import ALL_VISITS, code_of, logged, serving, wait_for, write_small_clinic

PAID = {"content": {"paid": "epsilon 1"}, "slot": 2}


class Slow:
    """A pool that answers when it is told to."""

    def __init__(self) -> None:
        self.given: list[tuple[dict, asyncio.Future]] = []

    async def do(self, message, *, is_allowed, seconds):
        if not is_allowed():
            raise ServiceRefusal("unauthorized")
        answer = asyncio.get_running_loop().create_future()
        self.given.append((message, answer))
        return await answer


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def message(number: int = 1) -> dict[str, object]:
    return {"word": "ask", "question": f"SELECT {number}", "analyst": "ana", "terms": {}}


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "clinic.keys")


@pytest.fixture
def ana(keys):
    return keys.create("ana", role="analyst")[0]


def told(scenario, keys, **limits) -> tuple[object, str]:
    """Run a scenario with jobs over a slow pool; return what it returns, and the log."""
    log = io.StringIO()

    async def run():
        pool = Slow()
        jobs = Jobs(pool, keys, ServiceLimits(**limits), RequestLog(log, "json"))
        return await scenario(jobs, pool)

    return asyncio.run(run()), log.getvalue()


def test_a_job_says_how_far_it_is_and_no_more(keys, ana):
    async def scenario(jobs, pool):
        job = jobs.start(ana, message())
        said = [job.to_object()]
        await settle()
        said.append(job.to_object())
        pool.given[0][1].set_result(PAID)
        await settle()
        return [*said, jobs.find(ana, job.identifier).to_object()]

    said, log = told(scenario, keys)
    assert [one["state"] for one in said] == ["waiting", "working", "done"]
    assert [set(one) for one in said] == [{"job", "state"}, {"job", "state"}, {"job", "state", "paid"}]
    assert said[2]["paid"] == "epsilon 1"
    assert '"word": "job"' in log
    assert '"cost": "epsilon 1"' in log
    assert "SELECT" not in log


def test_the_same_question_is_the_same_job_until_it_fails(keys, ana):
    async def scenario(jobs, pool):
        first, second, other = (jobs.start(ana, message(one)) for one in (1, 1, 2))
        await settle()
        worked_on = len(pool.given)
        pool.given[0][1].set_result({**problem_body("not_finished"), "slot": 1})
        await settle()
        failed = first.to_object()
        third = jobs.start(ana, message(1))
        return worked_on, first is second, first is other, failed, third is first, third.state

    found, _ = told(scenario, keys)
    assert found[:3] == (2, True, False)
    assert (found[3]["state"], found[3]["problem"]["code"]) == ("failed", "not_finished")
    assert found[4:] == (False, "waiting")


def test_a_job_is_known_to_its_name_alone(keys, ana):
    bea = keys.create("bea", role="owner")[0]

    async def scenario(jobs, pool):
        job = jobs.start(ana, message())
        refused = []
        for key, identifier in ((bea, job.identifier), (ana, "0" * 32)):
            with pytest.raises(ServiceRefusal) as found:
                jobs.find(key, identifier)
            refused.append(found.value.code)
        again = keys.create("ana", role="analyst")[0]
        return refused, jobs.find(again, job.identifier) is job

    assert told(scenario, keys)[0] == (["not_found", "not_found"], True)


def test_S11_jobs_of_one_name_are_bounded_and_leave_workers_to_others(keys, ana):
    async def scenario(jobs, pool):
        for number in range(3):
            jobs.start(ana, message(number))
        with pytest.raises(ServiceRefusal) as refused:
            jobs.start(ana, message(3))
        await settle()
        under_way = len(pool.given)
        for number in range(200):  # what is over makes room, and is forgotten
            pool.given[number][1].set_result(PAID)
            await settle()
            jobs.start(ana, message(number + 10))
            await settle()
        return refused.value.code, under_way, len(jobs._jobs)

    code, under_way, kept = told(scenario, keys, each=3, workers=4)[0]
    assert (code, under_way) == ("too_many_requests", 2)
    assert kept <= 64


def test_S10_a_key_that_is_revoked_while_its_job_waits_pays_nothing(keys, ana):
    async def scenario(jobs, pool):
        job = jobs.start(ana, message())
        keys.revoke(ana.prefix, reason="gone")
        await settle()
        return job.state, pool.given

    assert told(scenario, keys)[0] == ("failed", [])


def test_a_job_that_is_not_known_says_what_to_do(keys, ana):
    async def scenario(jobs, pool):
        with pytest.raises(ServiceRefusal) as found:
            jobs.find(ana, "0" * 32)
        return found.value

    refused = told(scenario, keys)[0]
    assert refused.code == "not_found"
    assert "Send the same question with the same terms again" in refused.message


@pytest.mark.slow
def test_S2_after_a_restart_a_job_is_unknown_and_its_question_is_answered_at_no_cost(tmp_path):
    import os
    import signal

    import discreet as dp

    write_small_clinic(tmp_path)
    (tmp_path / "wait").touch()
    with serving(tmp_path, ends=-signal.SIGKILL) as service:
        key, port = service.key("ana"), service.url.rpartition(":")[2]
        curator = dp.connect(service.url, key=key)
        job = curator.submit(ALL_VISITS, epsilon=1)
        wait_for(service.charges)
        workers = service.workers()
        service.process.kill()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        service.process.wait()
    (tmp_path / "wait").unlink()
    with serving(tmp_path, "--port", port, name="second") as service:
        unknown = service.send("GET", f"/v1/jobs/{job._identifier}", key)
        assert code_of(unknown) == "not_found"
        assert "at no further cost" in unknown.json()["error"]["message"]
        again = service.ask(key, epsilon=1).json()
        assert again["paid"] == "nothing", "what the message says"
        release = job.result()
        assert release.stored
        assert release["n"] == [again["rows"][0]["n"]]
        assert len(service.charges()) == 1
        curator.close()


@pytest.mark.slow
def test_S2_a_job_whose_server_is_killed_is_answered_later_at_no_cost(tmp_path):
    import discreet as dp

    write_small_clinic(tmp_path)
    with serving(tmp_path) as service:
        key, other = service.key("ana"), service.key("bea")
        service.marker.touch()
        with dp.connect(service.url, key=key) as curator:
            job = curator.submit(ALL_VISITS, epsilon=1)
            wait_for(lambda: job.state == "working")
            wait_for(service.charges)
            with pytest.raises(TimeoutError):
                job.result(timeout=0)
            identifier = job._identifier
            assert code_of(service.send("GET", f"/v1/jobs/{identifier}", other)) == "not_found"
            (worker,) = service.workers()
            import os
            import signal

            os.kill(worker, signal.SIGKILL)
            service.marker.unlink()
            with pytest.raises(dp.errors.EngineFailed):
                job.result()
            release = curator.submit(ALL_VISITS, epsilon=1).result()
        assert len(service.charges()) == 1
        assert release.stored
        lines = [one for one in logged(service) if one["word"] == "job"]
        assert [one["code"] for one in lines] == ["not_finished", ""]
