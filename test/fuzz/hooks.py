"""Adapts the OpenAPI document to schemathesis. Its texts come from Python's `re`, which does not know \\p{…}."""

import re
import unicodedata

import schemathesis


@schemathesis.hook
def before_load_schema(_context, raw_schema):
    expand(raw_schema)


def expand(node):
    """Writes the characters of each \\p{…} into the patterns of a schema."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            node["pattern"] = re.sub(r"\\p\{(\w+)\}", lambda found: characters(found[1]), node["pattern"])
        for value in node.values():
            expand(value)
    elif isinstance(node, list):
        for value in node:
            expand(value)


def characters(category):
    """Returns the characters of a Unicode category for a character class: those of Latin-1, as only these are generated."""
    return "".join(f"\\u{code:04x}" for code in range(256) if unicodedata.category(chr(code)).startswith(category))
