"""Guards in the server, its pages, controls, charts and reports, each with how to take it away."""

from tests.sabotage import Sabotage

OF_THE_APPLICATION = (
    Sabotage(
        "the reach in a cache key", "controls/loading.py",
        "    return hashlib.sha256(repr(reach).encode()).hexdigest()[:16]", "    return ''",
        ("tests/test_app.py::TestIsolation",),
    ),
    Sabotage(
        "the proxy's token", "controls/access.py",
        "not hmac.compare_digest(tokens[0].encode(), token.encode())", "False",
        ("tests/test_app.py::TestWhoIsAsking",),
    ),
    Sabotage(
        "the refusal of open addresses", "app.py",
        'if auth != "local" or settings.is_loopback(address):', "if True:",
        ("tests/test_app.py::TestAddress",),
    ),
    Sabotage(
        "the host check", "app.py", "self._names_us(scope) and self._may_download(scope)", "self._may_download(scope)",
        ("tests/test_app.py::TestHeaders",),
    ),
    Sabotage("the security headers", "app.py", "Middleware(SecurityHeaders),", "", ("tests/test_app.py::TestHeaders",)),
    Sabotage(
        "st.text for tenant text", "pages/shell.py",
        'st.text(f"{entry.answers}', 'st.markdown(f"{entry.answers}',
        ("tests/browser/test_overview.py::TestHostileTexts",),
    ),
    Sabotage(
        "the shell around a page", "controls/view.py",
        "    if found is None:\n        raise RuntimeError(", "    if found is None:\n        print(",
        ("tests/pages/test_shell.py::TestWithoutTheShell",),
    ),
    Sabotage(
        "the access check of the shell", "controls/access.py",
        "    if not settings.is_loopback(address):", "    if False:",
        ("tests/pages/test_shell.py::TestLocalPrincipal",),
    ),
    Sabotage(
        "the role asked of the store for every flag change", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/controls/flags/test_confirm.py",),
    ),
    Sabotage(
        "controls that a viewer is not offered", "controls/flags/changing.py",
        'if not view.principal.may("operator"):', "if False:",
        ("tests/test_flags_served.py::TestViewers",),
    ),
    Sabotage(
        "the role asked of the store for every decision", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/pages/test_drift_decisions.py::test_a_viewer_is_refused_in_the_write_itself",),
    ),
    Sabotage(
        "the escape of a statement's markup", "charts/statement.py",
        "else literal(piece) for piece, shows", "else piece for piece, shows",
        ("tests/charts/test_drift.py",),
    ),
    Sabotage(
        "the escape of a spreadsheet's formulas", "reports/spreadsheet.py",
        'return f"\'{text}" if runs else text', "return text",
        ("tests/controls/test_exports.py",),
    ),
    Sabotage(
        "a link that ends with its session", "controls/downloads.py",
        "return session is None or runtime.get_instance().is_active_session(session)", "return True",
        ("tests/controls/test_downloads.py",),
    ),
    Sabotage(
        "a name that no two files share", "controls/downloads.py",
        'f"{kind}-{secrets.token_hex(16)}.{form}"', 'f"{kind}.{form}"',
        ("tests/controls/test_downloads.py",),
    ),
    Sabotage(
        "the age of a sign-in", "controls/identity.py", "    if now >= until:", "    if False:",
        ("tests/controls/test_identity.py::TestAge",),
    ),
    Sabotage(
        "the verified address of a sign-in", "controls/identity.py",
        'claims.get("email_verified") is not True', "False", ("tests/controls/test_identity.py::TestNames",),
    ),
    Sabotage(
        "a sign-out that copies of its cookie obey", "controls/access.py", "    if found.token in sign_ins().ended:",
        "    if False:", ("tests/controls/test_identity.py::TestPrincipals",),
    ),
    Sabotage(
        "downloads for those who are signed in", "app.py", "return is_signed_in(", "return True or is_signed_in(",
        ("tests/browser/test_oidc.py::TestCookies::test_a_download_needs_a_good_cookie",),
    ),
    Sabotage(
        "a sign-out that downloads obey", "controls/identity.py",
        ".token not in sign_ins().ended", ".token != ''",
        ("tests/browser/test_oidc.py::test_sign_in_see_ones_own_and_sign_out",),
    ),
    Sabotage(
        "messages that are for developers", "app.py", "        Middleware(NeededMessages),\n", "",
        ("tests/test_websocket.py::test_what_is_for_developers_is_not_heard",),
    ),
    Sabotage(
        "the role of a flag change, over the websocket", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/test_flags_served.py::TestRoles",),
    ),
    Sabotage(
        "the record of an export", "controls/exports.py",
        "        taken.record(where, reach)\n", "        pass\n",
        ("tests/browser/test_flags_links_and_files.py::test_a_download_is_the_filtered_set_harmless_and_on_record",),
    ),
    Sabotage(
        "the escape of tenants' texts in an HTML report", "reports/html_page.py",
        'return f"<bdi>{escape(cut)}</bdi>"', 'return f"<bdi>{cut}</bdi>"',
        ("tests/reports/test_html_page.py",),
    ),
    Sabotage(
        "the record of a drift report", "controls/drift/reports.py",
        "        self._record(form, file_name, about, counts, hashlib.sha256(content).hexdigest())\n", "",
        ("tests/controls/drift/test_reports.py",),
    ),
    Sabotage(
        "the role that a drift report was offered for", "controls/drift/reports.py",
        "        refuse_a_changed_role(self.principal)\n", "",
        ("tests/controls/drift/test_reports.py",),
    ),
    Sabotage(
        "a drift report that ends with its session", "controls/drift/reports.py",
        "offered.of(partial(report.content, form, offered.name))", "partial(report.content, form, offered.name)",
        ("tests/browser/test_drift_reports.py::test_the_page_hands_out_the_listed_alerts_to_whom_they_belong",),
    ),
    Sabotage(
        "the members that a bundle must have", "reports/verifying.py",
        "sorted(expected - set(stated))", "()", ("tests/reports/test_bundle.py",),
    ),
    Sabotage(
        "the seal of a bundle's manifest", "reports/verifying.py",
        "if archive.comment != seal(content):", "if False:",
        ("tests/reports/test_bundle.py",),
    ),
)  # fmt: skip
