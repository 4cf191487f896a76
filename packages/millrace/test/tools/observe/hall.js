import { once } from 'node:events';
import WebSocket, { WebSocketServer } from 'ws';

/** A server of ws and as many clients: the server's sockets, and how many messages the clients have got. */
export async function hall(t, count, { Server = WebSocketServer, ...options } = {}) {
  const server = new Server({ port: 0, host: '127.0.0.1', ...options });
  await once(server, 'listening');
  const sockets = [];
  const got = { messages: 0 };
  for (let i = 0; i < count; i++) {
    const coming = once(server, 'connection');
    const client = new WebSocket(`ws://127.0.0.1:${server.address().port}/chat`);
    client.on('message', () => got.messages++);
    sockets.push((await coming)[0]);
    await once(client, 'open');
    t.after(() => client.terminate());
  }
  t.after(() => {
    for (const each of server.clients) each.terminate();
    server.close();
  });
  return { sockets, got };
}
