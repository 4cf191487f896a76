/** The chat whose node is measured: `node --expose-gc server.js`. A client joins the room that its URL names. */
import { Rooms } from 'millrace/ws';
import { WebSocketServer } from 'ws';

const rooms = new Rooms();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const name = new URL(request.url, 'ws://127.0.0.1').searchParams.get('room');
  rooms.join(socket, name);
  socket.on('message', (data, binary) => {
    rooms.publish(name, data, { binary });
  });
});
server.on('listening', () => process.send({ port: server.address().port }));
process.on('message', (question) => {
  if (question === 'memory') globalThis.gc();
  const { deliveries, sends, backend } = rooms.stats();
  process.send({ rss: process.memoryUsage.rss(), deliveries, sends, backend });
});
process.on('disconnect', () => process.exit());
