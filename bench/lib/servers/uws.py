"""The same chat with uWebSockets, which socketify brings to Python: `python3 uws.py`, as a child of Node.js that speaks by its channel.

Python is called once for each message that comes; uWebSockets sends it to the members of the room.
"""

import json
import os
import threading

from socketify import App, AppListenOptions, CompressOptions

channel = int(os.environ["NODE_CHANNEL_FD"])
members = {}
sent = 0


def tell(message):
    os.write(channel, (json.dumps(message) + "\n").encode())


def answer():
    """Answers each question with what was sent so far, and ends with the one who asks."""
    while os.read(channel, 4096):
        tell({"deliveries": sent})
    os._exit(0)


def upgrade(res, req, context):
    res.upgrade(
        req.get_header("sec-websocket-key"),
        req.get_header("sec-websocket-protocol"),
        req.get_header("sec-websocket-extensions"),
        context,
        req.get_query("room"),
    )


def opened(ws):
    room = ws.get_user_data()
    ws.subscribe(room)
    members[room] = members.get(room, 0) + 1


def heard(ws, message, opcode):
    global sent
    room = ws.get_user_data()
    app.publish(room, message, opcode)
    sent += members[room]


def closed(ws, code, message):
    members[ws.get_user_data()] -= 1


app = App()
app.ws(
    "/*",
    {
        "compression": CompressOptions.DISABLED,
        # No message is dropped for a slow socket.
        "max_backpressure": 1024**3,
        "upgrade": upgrade,
        "open": opened,
        "message": heard,
        "close": closed,
    },
)
os.set_blocking(channel, True)
app.listen(
    AppListenOptions(port=0, host="127.0.0.1"),
    lambda config: tell({"port": config.port}),
)
threading.Thread(target=answer, daemon=True).start()
app.run()
