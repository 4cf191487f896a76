import { once } from 'node:events';
import { install, Rooms } from 'millrace/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  install(WebSocket);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const rooms = new Rooms();
  server.on('connection', (socket) => {
    rooms.join(socket, 'lobby');
    socket.send('by itself');
    rooms.publish('lobby', 'published');
  });
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const texts = [];
  await new Promise((resolve) => {
    client.on('message', (data) => {
      if (texts.push(String(data)) === 2) resolve();
    });
  });
  return { texts: texts.sort() };
});
