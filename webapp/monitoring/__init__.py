"""Monitoring of the site: health, metrics, logs, error reports."""
