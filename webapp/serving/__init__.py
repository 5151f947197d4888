"""The web server: gunicorn manages the processes; waitress reads requests and buffers responses."""
