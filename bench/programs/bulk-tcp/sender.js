/** Other end, a process of its own, which sends its port: serves downloads there, and uploads to who asks for it. */
import { connect, createServer } from 'node:net';
import { blockBytes, content } from './content.js';
import { clients, transferBytes } from './transfers.js';

const block = content.subarray(0, blockBytes);

/** Sends the bytes of a transfer. They are always the same memory, so that sending is as cheap as it can be. */
function send(socket) {
  socket.cork();
  for (let left = transferBytes; left > 0; left -= blockBytes) {
    socket.write(left < blockBytes ? block.subarray(0, left) : block);
  }
  socket.uncork();
}

/** A window each round trip, as long as the one before is on its way. */
function sendWindows(socket, { windowBytes, roundTripMs }) {
  let place = 0;
  const timer = setInterval(() => {
    if (socket.writableLength > 0) return;
    socket.write(content.subarray(place, place + windowBytes));
    place = (place + windowBytes) % blockBytes;
  }, roundTripMs);
  socket.on('close', () => clearInterval(timer));
}

const quiet = () => {};

/** Uploads to a port. Each connection begins when a byte comes from the other end. */
function upload(port) {
  for (let n = 0; n < clients; n++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', quiet);
    socket.once('data', () => send(socket));
    // Always something to send, and never much of it in memory.
    socket.on('drain', () => send(socket));
  }
}

/** Asked by a line of JSON: the port to upload to, or the path that is between, or null; then a byte for each transfer. */
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', quiet);
  socket.once('data', (line) => {
    const { uploadTo, path } = JSON.parse(line.toString());
    if (uploadTo !== undefined) return upload(uploadTo);
    if (path !== null) return sendWindows(socket, path);
    send(socket);
    socket.on('data', (asked) => {
      for (let n = 0; n < asked.length; n++) send(socket);
    });
  });
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
