"""What a browser may say over its websocket; the rest of Streamlit's protocol is for whoever develops a page.

Anyone who can open the page can send any message, before and without signing in. One empties the caches of everyone,
which hold the store's connections and the workers with what they compute; another writes files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NEEDED = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
NEEDED_OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})


class NeededMessages:
    """Hands on what the pages need from a browser and nothing else; what is no message at all, Streamlit refuses."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection without the messages that are not needed."""

        async def receive_needed() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or is_needed(message.get("bytes")):
                    return message

        await self.app(scope, receive_needed if scope["type"] == "websocket" else receive, send)


def is_needed(frame: bytes | None) -> bool:
    """Whether a frame is to be handed on.

    One that holds no message is, and Streamlit closes the connection; on text, which never holds one, it would fail.
    """
    if frame is None:
        return False
    try:
        message = BackMsg.FromString(frame)
    except DecodeError:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in NEEDED_OPERATIONS
    return kind in NEEDED
