"""The page of one download, behind the application's own middleware."""

from pathlib import Path

from starlette.middleware import Middleware
from streamlit.starlette import App

from app import Gate, SecurityHeaders

app = App(
    Path(__file__).with_name("download_page.py"),
    middleware=[Middleware(SecurityHeaders), Middleware(Gate, hosts=(), token=None)],
)
