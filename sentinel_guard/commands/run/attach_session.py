"""Takes a session up again at the daemon: its state, and the daemon's proof that it is the session's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from sentinel_guard.host import session_proof


def session_state(request: Callable[..., Mapping[str, Any] | None], session: str, secret: str) -> str | None:
    """The session's state; empty where no daemon answers, None where another than the session's own does.

    ``request``: asks the daemon; ``secret``: what the daemon that began the session knows; empty: nobody proves it.
    """
    nonce = {"nonce": secrets.token_hex(16)} if secret else {}
    attached = request("attach", session=session, pid=os.getpid(), **nonce)
    if attached is None:
        return ""
    if nonce and not session_proof.is_attached(secret, session, nonce["nonce"], attached.get("proof")):
        return None
    return str(attached.get("state", ""))
