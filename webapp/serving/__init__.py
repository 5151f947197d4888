"""The web server: gunicorn keeps the processes, waitress reads requests and buffers answers."""
