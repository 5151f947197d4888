"""What pages show and take, for programs: JSON and files under /api/v1/, with an OpenAPI description of its own."""
