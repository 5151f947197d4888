"""Specs on the site: loading, the editor's form, limits, estimates, previews, reproduction."""
