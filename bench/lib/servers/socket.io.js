/** Chat with socket.io, over WebSocket alone. */
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { tell } from './tell.js';

let sent = 0;

const server = createServer();
const io = new Server(server, {
  transports: ['websocket'],
  perMessageDeflate: false,
  serveClient: false,
});
io.on('connection', (socket) => {
  const { room } = socket.handshake.query;
  socket.join(room);
  socket.on('m', (text) => {
    io.to(room).emit('m', text);
    sent += io.sockets.adapter.rooms.get(room).size;
  });
});
server.listen(0, '127.0.0.1', () => {
  tell(server.address().port, () => ({ deliveries: sent, writes: sent }));
});
