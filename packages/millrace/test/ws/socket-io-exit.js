/** A process of its own for socket-io-life.test.js: greets its first client, and ends. */
import { createServer } from 'node:http';
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';

const [, , how, when] = process.argv;
const server = createServer();
// A busy machine may take long.
const io = new Server(server, { connectTimeout: 600_000, pingTimeout: 600_000 });
io.adapter(millraceAdapter());

function end() {
  if (how === 'io.close()') io.close();
  else process.exit();
}

io.on('connection', (socket) => {
  setImmediate(() => {
    io.emit('1');
    socket.emit('direct');
    io.emit('2');
    if (when === 'in one tick') end();
  });
  if (when !== 'in one tick') setImmediate(end);
});

server.listen(0, '127.0.0.1', () => process.send(server.address().port));
