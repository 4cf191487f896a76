/** "Server broadcast" of the README of ws, on an HTTP server that says that it is up. */
import { createServer } from 'node:http';
import WebSocket, { WebSocketServer } from 'ws';

const server = createServer((_request, response) => response.end('ok\n'));
const wss = new WebSocketServer({ server });

wss.on('connection', function connection(ws) {
  ws.on('error', console.error);

  ws.on('message', function message(data, isBinary) {
    wss.clients.forEach(function each(client) {
      if (client.readyState === WebSocket.OPEN) {
        client.send(data, { binary: isBinary });
      }
    });
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
