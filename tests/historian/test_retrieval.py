"""The two signals of a search: every row that words found has its similarity, too, however many others are nearer."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.embed_fake import HashingEmbedder
from historian.events import EventStore
from historian.model import Event, Owner, Scope
from historian.retrieval import Retrieval
from server.composition import open_household
from server.finding_parts import WORDS
from server.settings import load_settings
from tests.kit.patient import AT, embed_all, fill


@pytest.mark.parametrize(
    ("query", "exact", "nearer"),
    [
        ("qx0205k", "Gardener Marlene planted two hundred quince trees near Lund under qx0205k.", "qx0204k qx0206k"),
        ("七号院", "玛琳娜那年春天在隆德附近种下了两百零五棵木瓜树，地点是七号院。", "八号院、六号院"),
        ("Haus 七号院", "Marlene 那年春天在 Lund 附近种下了两百棵木瓜树，在 Haus 七号院。", "Haus 八号院"),
    ],
)
def test_what_only_words_find_is_compared_by_meaning_too(tmp_path: Path, query: str, exact: str, nearer: str) -> None:
    """Else a name in a long text stands behind the many that merely look like it."""
    settings = load_settings({"data_dir": tmp_path, "user": "alice", "timezone": "UTC"}, {})
    opened = open_household(settings, embedder=HashingEmbedder())
    try:
        opened.engine.start()
        assert opened.engine.wait(60)
        fill(opened, [exact, nearer])
        embed_all(opened)
        retrieval = Retrieval(opened.database, opened.engine, opened.indexer, WORDS)
        hits = retrieval.find("events", query, Scope("alice").reach(), limit=1, since=None, until=None)
        with opened.database.read() as connection:
            rows = dict(connection.execute("SELECT text, row FROM events").fetchall())
    finally:
        opened.close()
    assert hits.degraded == ()
    assert set(hits.scores) == {rows[exact], rows[nearer]}
    similarity, lexical = hits.scores[rows[exact]]
    assert lexical
    assert similarity is not None
    assert 0 < similarity < (hits.scores[rows[nearer]][0] or 0)


@pytest.mark.parametrize(
    ("owner", "sender", "finder"),
    [
        (Owner("user", "bob"), None, Scope("bob")),
        (Owner("group", "team"), "bob", Scope("carol", "team")),
        (Owner("group", "team"), "bob", Scope("bob")),
    ],
    ids=["own", "of the group", "own in a group"],
)
def test_a_search_embeds_what_waits_and_may_be_found_and_leaves_the_rest_to_the_background(
    tmp_path: Path, owner: Owner, sender: str | None, finder: Scope
) -> None:
    settings = load_settings({"data_dir": tmp_path, "user": "alice", "timezone": "UTC"}, {})
    opened = open_household(settings, embedder=HashingEmbedder())
    try:
        opened.engine.start()
        assert opened.engine.wait(60)
        group = owner.id if owner.kind == "group" else None
        said = Event("e", owner, "r", 0, 0, "Bob 种花", "Bob 种花", AT, "UTC", "bob", group, sender)
        EventStore(opened.database).add([said])
        retrieval = Retrieval(opened.database, opened.engine, opened.indexer, WORDS)

        def waiting_after(scope: Scope) -> int:
            retrieval.find("events", "garden", scope.reach(), limit=1, since=None, until=None)
            return opened.indexer.waiting()

        assert waiting_after(Scope("alice")) == 1
        assert waiting_after(finder) == 0
    finally:
        opened.close()
