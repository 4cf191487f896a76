/** A chat with one room: whatever one says goes to all. */
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const server = createServer((_request, response) => response.end('ok\n'));
const io = new Server(server);

io.on('connection', (socket) => {
  socket.on('m', (text) => io.emit('m', text));
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
