"""Renders untrusted text as inert HTML, and pages with scripts in sandboxed frames."""
