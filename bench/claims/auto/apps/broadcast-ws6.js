/** "Server broadcast" of the README of ws 6, on an HTTP server that says that it is up. */
import { createServer } from 'node:http';
import WebSocket from 'ws-6';

const server = createServer((_request, response) => response.end('ok\n'));
const wss = new WebSocket.Server({ server });

wss.on('connection', function connection(ws) {
  ws.on('error', console.error);

  ws.on('message', function incoming(data) {
    wss.clients.forEach(function each(client) {
      if (client.readyState === WebSocket.OPEN) {
        client.send(data);
      }
    });
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
