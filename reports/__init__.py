"""Drift alerts as files for people without a login: what was asked, whole, in the format they can open."""
