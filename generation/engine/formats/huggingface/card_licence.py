"""The names and addresses of licences on the Hub and in schema.org."""

import re

# The Hub's identifiers of the most common dataset licences, with the SPDX names that form addresses for schema.org.
ON_THE_HUB = {
    "cc0-1.0": "CC0-1.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-3.0": "CC-BY-3.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc-by-sa-3.0": "CC-BY-SA-3.0",
    "cc-by-nc-4.0": "CC-BY-NC-4.0",
    "cc-by-nc-sa-4.0": "CC-BY-NC-SA-4.0",
    "cc-by-nd-4.0": "CC-BY-ND-4.0",
    "cc-by-nc-nd-4.0": "CC-BY-NC-ND-4.0",
    "apache-2.0": "Apache-2.0",
    "mit": "MIT",
    "bsd-3-clause": "BSD-3-Clause",
    "odc-by": "ODC-By-1.0",
    "odbl": "ODbL-1.0",
    "pddl": "PDDL-1.0",
}


def hub_name(licence: str) -> str:
    """Return the Hub's identifier of a licence: `other` for a licence it does not know, `unknown` for no licence."""
    name = re.sub(r"[\s_]+", "-", licence.strip().lower())
    if not name:
        return "unknown"
    return name if name in ON_THE_HUB else "other"


def address(licence: str) -> str:
    """Return the address of a licence's text if the licence is known, otherwise the stated text."""
    known = ON_THE_HUB.get(hub_name(licence))
    return f"https://spdx.org/licenses/{known}.html" if known else licence.strip()
