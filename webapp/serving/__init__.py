"""The web server: gunicorn manages the processes; waitress reads requests and buffers responses.

A process has one loop for all connections and a fixed number of threads, `WEB_THREADS`. The loop reads requests and
sends what is buffered. A thread works only on complete requests, and never waits for a client: when enough of a
response is buffered, the thread leaves it and works on other requests. The rest is *parked*. When the client has read
most of the buffer, the next free thread continues the response. A file on the disk is sent by the loop alone.

Why this model fits:

- Views use Django's ORM and NumPy, so they are synchronous and need threads. With one thread for each connection, a
  hundred clients that do not read need a hundred threads, and each thread opens a connection to the database. Here, a
  slow client costs a socket and a buffer, and the number of threads and of database connections is constant.
- An asynchronous server would run the same views in a pool of threads. Its streaming responses would need views that
  are written anew.
- A proxy that sends files (`PROXY_SENDS_FILES`) helps only for files on its disk, but many downloads are made while
  they are sent. A bucket's signed address would tell visitors the address of the bucket, which need not be public. It
  would also stay valid after the access was withdrawn.

The price: an iterator of a streaming response may go on in another thread. So it must not keep a database cursor or a
transaction open when it yields. `tests.streams` checks this for each response that any test reads.
"""
