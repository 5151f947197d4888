"""How the site does: health, metrics, logs, error reports."""
