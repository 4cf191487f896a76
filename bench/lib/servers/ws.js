/** A chat as one writes it with ws alone: each message goes to each member of its room, its sender included. */
import { WebSocket, WebSocketServer } from 'ws';
import { tell } from './tell.js';

const rooms = new Map();
let sent = 0;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const name = new URL(request.url, 'ws://127.0.0.1').searchParams.get('room');
  if (!rooms.has(name)) rooms.set(name, new Set());
  const room = rooms.get(name);
  room.add(socket);
  socket.on('close', () => room.delete(socket));
  socket.on('message', (data, binary) => {
    for (const member of room) {
      if (member.readyState === WebSocket.OPEN) member.send(data, { binary });
    }
    sent += room.size;
  });
});
server.on('listening', () => {
  tell(server.address().port, () => ({ deliveries: sent, writes: sent }));
});
