"""Who may do what, limits, and files that are not what they should be: refused with a sentence; the others go on."""

from contextlib import closing

import apsw
import pytest

from lopsided.constraints import ParameterError
from lopsided.serve import running
from lopsided.serve.opening import log_path, recovered
from lopsided.serve.storage.disk import RealDisk
from lopsided.serve.storage.log import LogReader, StorageError
from lopsided.serve.storage.versions import Versions
from lopsided.serve.web.serving import check_reachable
from lopsided.serve.web.tokens import Tokens
from serve.asking import Service

SETTINGS = {"learner": "onlineperceptron"}
EVENT = {"columns": {"a": 1.0}}
TOKENS = "score-0123456789abc score\nlabel-0123456789abc label\nadmin-0123456789abc admin\n"
ASKED = {
    "admin": ("PUT", "/models/m", SETTINGS),
    "score": ("POST", "/models/m/events", EVENT),
    "label": ("POST", "/models/m/labels", {"id": "a", "label": 1}),
    None: ("GET", "/models/m", b""),
}


def _bearer(who):
    return [("authorization", f"Bearer {who}-0123456789abc")]


def test_rights(tmp_path):
    with Service(tmp_path, TOKENS) as service:
        for right, asked in ASKED.items():
            assert service.ask(*asked).status == 401
            assert service.ask(*asked, _bearer("other")).status == 401
            assert service.ask(*asked, [("authorization", "Basic admin-0123456789abc")]).status == 401
            for who in ("score", "label"):
                if right not in (who, None):
                    assert service.ask(*asked, _bearer(who)).status == 403
            assert service.ask(*asked, _bearer("admin")).status < 300
            if right in ("score", "label"):
                assert service.ask(*asked, _bearer(right)).status < 300
        assert service.ask("GET", "/healthz").status == 200


def test_other_machines_need_tokens():
    check_reachable("127.0.0.1", Tokens({}))
    check_reachable("0.0.0.0", Tokens.parse(TOKENS))
    with pytest.raises(ParameterError, match="must have tokens"):
        check_reachable("0.0.0.0", Tokens({}))


def test_pages_of_others(tmp_path):
    """A page may have the browser ask, and even give its own name our address: neither gets through."""
    with Service(tmp_path, only_for="127.0.0.1") as service:
        assert service.ask(*ASKED["admin"], [("origin", "http://elsewhere")]).status == 403
        assert service.ask(*ASKED["admin"], [("origin", "http://localhost")]).status == 201
        evil = [("host", "evil.example"), ("origin", "http://evil.example")]
        for asked in ASKED.values():
            assert service.ask(*asked, evil, replace_host=True).status == 403


def test_names_stay_in_the_directory(tmp_path):
    with Service(tmp_path / "data") as service:
        for name in ("..", "../x", "%2e%2e", "a/b", "/etc", ".hidden", "A", "a" * 65, "a\x00"):
            assert service.ask("PUT", f"/models/{name}", SETTINGS).status in (404, 405, 422)
        service.ask(*ASKED["admin"])
        for name in ("../v", "a/b", ".", "@", ""):
            assert service.ask("POST", "/models/m/versions", {"name": name}).status == 422
        assert service.ask("POST", "/models/m/versions", {"name": "v.1"}).status == 200
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["lock", "models"]
    assert [path.name for path in (tmp_path / "data" / "models").iterdir()] == ["m"]


def test_limits(tmp_path, monkeypatch):
    with Service(tmp_path, largest_body=1000) as service:
        service.ask(*ASKED["admin"])
        large = service.ask("POST", "/models/m/events", {"columns": {"a": "x" * 1000}})
        assert large.status == 413 and large.said["error"].startswith("The body of a request must have at most 1,000")
        monkeypatch.setattr(running, "_MOST_PENDING", 5)
        model = service.house.model("m")
        model._pending += 4  # others are being answered
        busy = service.ask("POST", "/models/m/events", [EVENT, EVENT])
        assert (busy.status, busy.headers["retry-after"]) == (429, "1")
        model._pending -= 4
        assert service.ask("POST", "/models/m/events", [EVENT, EVENT]).status == 200


def test_the_same_key_gets_the_same_answer(tmp_path):
    with Service(tmp_path) as service:
        service.ask(*ASKED["admin"])
        key = [("idempotency-key", "once")]
        for kind, body in (("events", EVENT), ("labels", {"id": "nobody", "label": 1}), ("events", [EVENT, EVENT])):
            first = service.ask("POST", f"/models/m/{kind}", body, key)
            again = service.ask("POST", f"/models/m/{kind}", body, key)
            assert (first.status, first.body) == (again.status, again.body)
        assert service.ask("GET", "/models/m").said["events"] == 3
        # Another request under the same key is another request: it must not be told that it was done.
        service.ask("POST", "/models/m/events", {"id": "new", "columns": {"a": 2.0}}, key)
        assert service.ask("GET", "/models/m/events/new").status == 200


# ---------------------------------------------------------------- files that are not what they should be


@pytest.fixture
def saved(tmp_path):
    """A directory with two models, each with two snapshots and a version."""
    for n in range(2):
        with Service(tmp_path) as service:
            for name in ("m", "other"):
                service.ask("PUT", f"/models/{name}", SETTINGS)
                events = [{"columns": {"a": float(k)}, "id": f"{n}-{k}", "label": k % 2} for k in range(8)]
                assert service.ask("POST", f"/models/{name}/events", events).status == 200
                assert service.ask("POST", f"/models/{name}/versions", {"name": f"v{n}"}).status == 200
    return tmp_path


def _recovered(folder, name="m"):
    path = folder / "models" / name
    reader = LogReader(log_path(path), RealDisk())
    try:
        return recovered(path, RealDisk(), reader).to_bytes()
    finally:
        reader.close()


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage", "foreign", "plain model", "missing"])
def test_a_snapshot_that_cannot_be_used(saved, damage, caplog):
    model = saved / "models" / "m"
    first, second = Versions(model, RealDisk()).snapshots()
    before, content = _recovered(saved), first.read_bytes()
    match damage:
        case "cut":
            first.write_bytes(content[: len(content) // 2])
        case "flipped":
            first.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        case "garbage":
            first.write_bytes(b"\x00" * 100)
        case "foreign":
            first.write_bytes(Versions(saved / "models" / "other", RealDisk()).snapshots()[0].read_bytes())
        case "plain model":
            first.write_bytes(next((model / "versions").iterdir()).read_bytes())
        case "missing":
            first.unlink()
    assert _recovered(saved) == before
    assert bool(caplog.messages) == (damage != "missing")
    second.write_bytes(b"")
    for path in Versions(model, RealDisk()).snapshots():
        path.write_bytes(b"")
    assert _recovered(saved) == before  # from the beginning


def test_a_snapshot_that_is_ahead_of_its_log(saved, caplog):
    """The log was brought back from an older backup, the snapshots were not."""
    path = saved / "models" / "m"
    first, second = Versions(path, RealDisk()).snapshots()
    with closing(apsw.Connection(str(log_path(path)))) as sql:
        sql.execute("DELETE FROM entries WHERE sequence > ?", (int(second.name[:20]),))
    found = _recovered(saved)
    assert "Got one of another log" in caplog.text
    first.unlink()
    assert _recovered(saved) == found == second.read_bytes()


def test_without_a_snapshot_nothing_that_was_forgotten_is_made_up(saved):
    path = saved / "models" / "m"
    with Service(saved) as service:
        model = service.house.model("m")
        model._writer.append(running.Group(received=0.0, forget=(1, 2), facts={"forgotten": 2, "needed": 2}))
    before = _recovered(saved)
    Versions(path, RealDisk()).snapshots()[0].write_bytes(b"")
    assert _recovered(saved) == before
    for snapshot in Versions(path, RealDisk()).snapshots():
        snapshot.write_bytes(b"")
    with pytest.raises(StorageError, match="must have a snapshot that can be read"):
        _recovered(saved)


def test_a_damaged_log_stops_its_model_alone(saved):
    log_path(saved / "models" / "m").write_bytes(b"not a database" * 100)
    with Service(saved) as service:
        refused = service.ask("POST", "/models/m/events", EVENT)
        assert refused.status == 503 and "must be readable" in refused.said["error"]
        assert service.ask("PUT", "/models/m", SETTINGS).status == 503
        assert service.ask("GET", "/readyz").status == 503
        assert service.ask("POST", "/models/other/events", EVENT).status == 200


def test_a_damaged_version_is_refused_and_changes_nothing(saved):
    for path in (saved / "models" / "m" / "versions").glob("v0@*"):
        path.write_bytes(path.read_bytes()[:100])
    with Service(saved) as service:
        before = service.house.model("m").written
        assert service.ask("POST", "/models/m/rollback", {"name": "v0"}).status == 422
        assert service.house.model("m").written == before
        assert service.ask("POST", "/models/m/rollback", {"name": "v1"}).status == 200


def test_a_model_that_was_never_acknowledged_can_be_made(tmp_path):
    """The power was lost between its folder and its first entry."""
    folder = tmp_path / "models" / "m"
    folder.mkdir(parents=True)
    running.LogWriter(log_path(folder), RealDisk()).close()
    with Service(tmp_path) as service:
        assert service.ask("POST", "/models/m/events", EVENT).status == 404
        assert service.ask("PUT", "/models/m", SETTINGS).status == 201
        assert service.ask("POST", "/models/m/events", EVENT).status == 200
