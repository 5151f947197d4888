"""The API: JSON and files under /api/v1/, with an OpenAPI description."""
