"""Files to download: each has a name that nobody can guess, and is handed out only while its session is open.

Streamlit makes the link of a file from its name and, where it is large, a sample of its content, and serves the link to
whoever knows it. Two tenants' files must therefore never share a name, and a link must not outlive the page it was on.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING

from streamlit import runtime
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 10_000  # files that were asked for and whose sessions are remembered, the newest

_sessions: OrderedDict[str, str] = OrderedDict()
_remembering = Lock()


@dataclass(frozen=True)
class Download:
    """One file to come: its name, and the session that was offered it."""

    name: str
    session: str

    def of(self, content: Callable[[], bytes | str]) -> Callable[[], bytes | str]:
        """What a download button calls when it is clicked: from then on the file belongs to its session."""

        def hand_out() -> bytes | str:
            made = content()
            with _remembering:
                _sessions[self.name] = self.session
                while len(_sessions) > MOST:
                    _sessions.popitem(last=False)
            return made

        return hand_out


def download(kind: str, form: str) -> Download:
    """A file to be offered by the page that is being drawn."""
    drawing = get_script_run_ctx()
    return Download(f"{kind}-{secrets.token_hex(16)}.{form}", "" if drawing is None else drawing.session_id)


def is_open(link: str) -> bool:
    """Whether a link may be served: not the file of a session whose browser has left.

    What was never offered by ``download``, such as the logo, is Streamlit's own to serve.
    """
    if not runtime.exists():
        return True
    found = runtime.get_instance().media_file_mgr.read_file(PurePosixPath(link).stem)
    if found is None or found.kind is not MediaFileKind.DOWNLOADABLE:
        return True
    session = _sessions.get(found.filename or "")
    return session is None or runtime.get_instance().is_active_session(session)
