/** Chat with Rooms: `node rooms.js [OPTIONS]`, options of Rooms as JSON. */
import { Rooms } from 'millrace/ws';
import { WebSocketServer } from 'ws';
import { tell } from './tell.js';

const rooms = new Rooms(JSON.parse(process.argv[2] ?? '{}'));

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const name = new URL(request.url, 'ws://127.0.0.1').searchParams.get('room');
  rooms.join(socket, name);
  socket.on('message', (data, binary) => {
    rooms.publish(name, data, { binary });
  });
});
server.on('listening', () => {
  tell(server.address().port, () => {
    const { deliveries, sends, backend } = rooms.stats();
    return { deliveries, writes: sends, backend };
  });
});
