"""The two signals of a search: every row that words found has its similarity, too, however many others are nearer."""

from __future__ import annotations

from pathlib import Path

import pytest

from historian.embed_fake import HashingEmbedder
from historian.model import Scope
from historian.retrieval import Retrieval
from server.composition import open_household
from server.finding_parts import WORDS
from server.settings import load_settings
from tests.kit.patient import embed_all, fill


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
