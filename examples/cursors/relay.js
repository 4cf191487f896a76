/** A slow connection: passes on what a server sends at a number of bytes a second, and reads no more than that ahead. */
import { connect } from 'node:net';

/** Interval in ms at which bytes are passed on. */
const stepMs = 20;

/** Connects a WebSocket of a page to this server again, slowly. Ends with either side. */
export function relay({ request, socket, head, port, bytesPerSecond }) {
  const step = Math.max(1, Math.round((bytesPerSecond * stepMs) / 1000));
  const server = connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer: Buffer.alloc(step),
      callback(bytes, buffer) {
        socket.write(Buffer.from(buffer.subarray(0, bytes)));
        // Until the next step.
        return false;
      },
    },
  });
  const timer = setInterval(() => server.resume(), stepMs);
  const end = () => {
    clearInterval(timer);
    server.destroy();
    socket.destroy();
  };
  for (const side of [server, socket]) side.on('error', end).on('close', end);
  const headers = request.rawHeaders.flatMap((name, at, all) =>
    at % 2 === 0 ? [`${name}: ${all[at + 1]}`] : [],
  );
  server.write(`GET ${request.url}?relayed HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  server.write(head);
  socket.pipe(server);
}
