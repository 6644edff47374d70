"""The server of the pages on a loopback port: the layers of the HTTP server, without tokens."""

from __future__ import annotations

import uvicorn
from starlette.routing import Router

from historian.session import Session
from server.household import Household
from server.http.attending import Attended
from server.http.connections import protocol_within
from server.http.door import HostCheck
from server.http.hosts import Hosts
from server.http.limits import RateLimiter
from server.http.metrics import Metrics
from server.http.serving import Web
from server.owner.address import LOCALHOST
from server.web.answering import Place
from server.web.guests import Guests
from server.web.site import Grounds, make_site
from server.web.visits import Visits

MAX_CONNECTIONS = 64
HEAD_SECONDS = 20.0
KEEP_ALIVE_SECONDS = 30
DRAIN_SECONDS = 2


def make_app(household: Household, place: Place, visits: Visits) -> Attended:
    """Return the application: only links of `visits` open it, and it answers to one name."""
    grounds = Grounds(
        memory=household.memory,
        warm_up=household.warm_up,
        visits=visits,
        guests=Guests(visits, verifier=None, alone=None, defaults=Session()),
        place=place,
        rate=RateLimiter(0),
        body_seconds=HEAD_SECONDS,
    )
    metrics = Metrics(())
    hosts = Hosts({LOCALHOST}, {place.origin})
    return Attended(HostCheck(Router(make_site(grounds)), hosts, metrics, open_path=""), metrics)


def make_web(household: Household, place: Place, visits: Visits) -> Web:
    """Return the server of `make_app`; whoever runs it calls `serve` with a bound socket. Slow: loads templates."""
    attended = make_app(household, place, visits)
    config = uvicorn.Config(
        attended,
        http=protocol_within(MAX_CONNECTIONS, HEAD_SECONDS, Metrics(())),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    return Web(config, attended)
