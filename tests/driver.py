"""A browser session without a browser: speaks Streamlit's websocket protocol and keeps every byte it was sent.

The protocol is internal to Streamlit; requirements.txt pins the version it was written against.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Session:
    """One session of one visitor; ``frames`` holds the raw messages of all runs, ``elements`` those of the last."""

    def __init__(
        self,
        url: str,
        query: str = "",
        page: str = "",
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        origin: str | None = None,
        *,
        tokens: tuple[str, ...] = (),
    ) -> None:
        parts = urlsplit(url)
        self.query = query
        self.page = page
        self.frames: list[bytes] = []
        self.elements: list[Any] = []
        self.fragments: list[str] = []  # of each element, the fragment it was drawn by, if any
        self.seconds = 0.0
        self.id = ""
        self._connection = connect(
            f"ws://{parts.netloc}/_stcore/stream",
            # Streamlit's own page sends its XSRF token as a second protocol
            subprotocols=[Subprotocol(name) for name in ("streamlit", *tokens)],
            origin=Origin(origin or url),
            additional_headers=headers or {},
            max_size=None,
            max_queue=None,  # whoever leaves without having listened could not be told goodbye
        )
        self.socket = self._connection.__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.__exit__(kind, error, at)

    def run(self, widgets: dict[str, tuple[str, Any]] | None = None, limit: float = 60.0, fragment: str = "") -> Self:
        """Run the script once, or a fragment of it; widget values are each ``id: (field of WidgetState, value)``.

        A script that starts itself over is waited for until it has come to its end.
        """
        self._forget()
        started = time.perf_counter()
        self.send(widgets, fragment)
        while not self._finished(self.socket.recv(timeout=limit)):
            pass
        self.seconds = time.perf_counter() - started
        return self

    def send(self, widgets: dict[str, tuple[str, Any]] | None = None, fragment: str = "") -> None:
        """Ask for a run and wait for nothing."""
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        for name, (field, value) in (widgets or {}).items():
            state = message.rerun_script.widget_states.widgets.add()
            state.id = name
            if field.endswith("_array_value"):
                getattr(state, field).data.extend(value)
            else:
                setattr(state, field, value)
        self.socket.send(message.SerializeToString())

    def _forget(self) -> None:
        self.elements, self.fragments = [], []

    def _finished(self, raw: bytes | str) -> bool:
        data = raw.encode() if isinstance(raw, str) else raw
        self.frames.append(data)
        message = ForwardMsg()
        message.ParseFromString(data)
        if message.WhichOneof("type") == "new_session":
            self.id = message.new_session.initialize.session_id
        if message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.elements.append(message.delta.new_element)
            self.fragments.append(message.delta.fragment_id)
        if message.WhichOneof("type") != "script_finished":
            return False
        if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._forget()
            return False
        return True

    def download(self, placeholder: str, limit: float = 30.0) -> str:
        """Click a download button whose file is made on the click, and return the path of what was made."""
        message = BackMsg()
        request = message.backend_operation_request
        request.request_id, request.session_id, request.deferred_file.file_id = "1", self.id, placeholder
        self.socket.send(message.SerializeToString())
        while True:
            raw = self.socket.recv(timeout=limit)
            answer = ForwardMsg()
            answer.ParseFromString(raw.encode() if isinstance(raw, str) else raw)
            if answer.WhichOneof("type") == "backend_operation_response":
                return str(answer.backend_operation_response.deferred_file.url)

    def bodies(self, kind: str) -> list[str]:
        """The text of every element of a kind: alert, text, markdown, heading, exception."""
        found = [getattr(element, kind) for element in self.elements if element.WhichOneof("type") == kind]
        return [element.message if kind == "exception" else element.body for element in found]

    def widget(self, kind: str, label: str) -> Any:  # noqa: ANN401 - one of Streamlit's message types
        """The widget of a kind with this label."""
        for element in self.elements:
            if element.WhichOneof("type") == kind and getattr(element, kind).label == label:
                return getattr(element, kind)
        raise LookupError(f"no {kind} labelled {label!r} among {[e.WhichOneof('type') for e in self.elements]}")

    def fragment_of(self, kind: str, label: str) -> str:
        """The fragment that drew the widget of a kind with this label, such as a dialog."""
        drawn = self.widget(kind, label)
        return next(
            name
            for element, name in zip(self.elements, self.fragments, strict=True)
            if element.WhichOneof("type") == kind and getattr(element, kind).id == drawn.id
        )

    @property
    def received(self) -> bytes:
        """Everything this session was ever sent."""
        return b"".join(self.frames)
