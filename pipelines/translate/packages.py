"""Debian and Ubuntu packages with Apertium's language pairs, to name the one that would help (Debian 12 and 13)."""

from __future__ import annotations

_PAIRS = """
eng-spa en es|eng-cat en ca|en-gl en gl|eo-en eo en|eo-es eo es|eo-ca eo ca|eo-fr eo fr|es-gl es gl|es-pt es pt|es-ro es ro
eu-en eu en|eu-es eu es|fr-es fr es|fra-cat fr ca|afr-nld af nl|bel-rus be ru|rus-ukr ru uk|br-fr br fr|cat-ita ca it
dan-nor da nb|swe-nor sv nb|swe-dan sv da|nno-nob nn nb|isl-eng is en|isl-swe is sv|mkd-eng mk en|mkd-bul mk bg|oc-ca oc ca
oc-es oc es|oci-fra oc fr|por-cat pt ca|pt-gl pt gl|spa-cat es ca|spa-ita es it|srd-ita sc it|ind-zlm id ms|urd-hin ur hi
"""
PACKAGES: dict[frozenset[str], str] = {
    frozenset((one, other)): f"apertium-{name}"
    for name, one, other in (
        entry.split() for line in _PAIRS.split("\n") for entry in line.split("|") if entry
    )
}
# Directions, source and target, that the package of a pair does not have (read from the packages' mode files).
ONE_WAY: frozenset[tuple[str, str]] = frozenset(
    {
        *(("es", "ro"), ("es", "eu"), ("en", "eu"), ("fr", "br"), ("en", "is"), ("en", "mk"), ("sc", "it")),
        *(("eo", "fr"), ("eo", "es"), ("eo", "ca")),
    }
)


def package_for(source: str, target: str) -> str | None:
    """The package that translates this pair, or None when there is none."""
    return None if (source, target) in ONE_WAY else PACKAGES.get(frozenset((source, target)))
