/** A relay as signalling servers are: each message goes to the one other client of its room. */
import { createServer } from 'node:http';
import WebSocket, { WebSocketServer } from 'ws';

const server = createServer((_request, response) => response.end('ok\n'));
const wss = new WebSocketServer({ server });
const rooms = new Map();

wss.on('connection', (ws, { url }) => {
  const members = rooms.get(url) ?? new Set();
  rooms.set(url, members.add(ws));
  ws.on('error', console.error);
  ws.on('close', () => members.delete(ws));

  ws.on('message', (data) => {
    const text = data.toString();
    for (const member of members) {
      if (member !== ws && member.readyState === WebSocket.OPEN) member.send(text);
    }
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
