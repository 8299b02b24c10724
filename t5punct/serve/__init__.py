"""A service for texts and live streams over HTTP and WebSocket (docs/guides/serve.md).

In reading order:

    requests  what a request asks for: options as fields; and a stream's messages, as json
    engine    one model for many clients: what arrives while it works is decided together
    texts     a request's body -> the transcript, and its answer in pieces
    live      one stream over a WebSocket, and those who watch it
    guard     who may use it; what is refused before anything else: hosts, origins, tokens, large bodies
    app       the addresses, counts for Prometheus, and the server, which ends in order
    client    a pipe's words to a server and back, over lost connections
    page/     the pages at `/` and `/docs`
"""
