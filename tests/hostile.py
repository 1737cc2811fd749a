"""Texts that a tenant could store to harm whoever looks at them; each is to be shown literally, everywhere."""

from __future__ import annotations

BEACON = "http://127.0.0.1:9/beacon"

MARKUP = (
    "<script>window.__x='script'</script>",
    "<img src=x onerror=\"window.__x='img'\">",
    "<svg onload=\"window.__x='svg'\">",
    "<svg><animate onbegin=\"window.__x='animate'\" attributeName=x dur=1s>",
    f"<img src='{BEACON}'>",
    f"<iframe src='{BEACON}'></iframe>",
    f"<link rel=stylesheet href='{BEACON}'>",
    f"<style>@import '{BEACON}'</style>",
    f"<object data='{BEACON}'></object>",
    f"<video src='{BEACON}' autoplay></video>",
    f"<form action='{BEACON}'><button>go</button></form>",
    f"<meta http-equiv=refresh content='0;url={BEACON}'>",
    f"<base href='{BEACON}'>",
    "<a href=\"javascript:window.__x='a'\">go</a>",
    "<details open ontoggle=\"window.__x='details'\">",
    "</script><script>window.__x='close'</script>",
    "<!--<script>window.__x='comment'</script>-->",
    "&lt;script&gt;window.__x='entity'&lt;/script&gt;",
    "javascript:window.__x='url'",
    "data:text/html,<script>window.__x='data'</script>",
)
MARKDOWN = (
    f"![beacon]({BEACON})",
    f"![beacon][1]\n\n[1]: {BEACON}",
    "[click](javascript:window.__x='link')",
    f"[click]({BEACON})",
    f"<{BEACON}>",
    f"see {BEACON} or www.example.invalid or a@example.invalid",
    "```mermaid\ngraph TD; A[\"<img src=x onerror=window.__x='mermaid'>\"]-->B\n```",
    "# heading\n\n> quote\n\n- list",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "**bold** _it_ ~~no~~ `code`",
    "$\\href{javascript:window.__x='tex'}{x}$ and $$x^2$$",
    ":material/delete: :red[RED] :rainbow[x] :blue-background[y] :smile:",
    ":red-badge[x] :small[y] :streamlit:",
    "[^1]\n\n[^1]: note",
    "<https://example.invalid>",
    "\\![escaped](x) \\\\[x](y)",
)
QUERY = (
    "'; drop table organizations; --",
    '" or "1"="1',
    "') or 1=1 --",
    "%s %(name)s :name $1 ?",
    "{0} {name} {{}}",
    "\\'; select pg_sleep(9); --",
    "' union select rolname from pg_roles --",
    "E'\\x27'",
    "%' like '%",
    "NULL",
)
SPREADSHEET = (
    "=cmd|' /C calc'!A0",
    f'=HYPERLINK("{BEACON}","x")',
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "|x",
    "%x",
    '"=1"',
    "\u2060=1",
    "\u00ad=1",
    "\u061c+1",
    "\u3164=1",
    "\x7f=1",
    "\uff1d1+1",
    "\uff20SUM(1)",
)
CHARACTERS = (
    "\u202eevil\u202c",
    "left open \u202e",
    "\u2066isolate\u2069",
    "zero\u200bwidth\u200d\ufeff",
    "مرحبا بالعالم",
    "👩‍👩‍👧‍👦 🇩🇪",
    "e\u0301\u0301\u0301\u0301\u0301",
    "\x01\x02\x1b[31mred",
    "\u2028line\u2029paragraph",
    "ﷺ" * 20,
    "x" * 3000,
    "line\n" * 200,
    "\U000e0041tag",
)
TEXTS = (*MARKUP, *MARKDOWN, *QUERY, *SPREADSHEET, *CHARACTERS)
# Too large to stand among the others wherever each is tried alone.
LARGE = ("megabyte " * 116_509, "\n".join(f"line {number}" for number in range(10_000)))
# What a store cannot hold, and a browser or an address can still send.
UNSTORABLE = ("\0", "a\0b", "\ud800", "half \udfff a character", "\0\ud834 <script>window.__x='nul'</script>")
