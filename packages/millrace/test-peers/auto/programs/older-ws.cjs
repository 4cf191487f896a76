/** A server of ws 5 sends equal frames to two clients, in turns of ten. Prints what they got, and what auto says. */
const WebSocket = require('ws-5');

const { Server } = WebSocket;

const turns = 3;
const server = new Server({ port: 0 });

server.on('listening', async () => {
  const { port } = server.address();
  const messages = [];
  const clients = [1, 2].map((number) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    client.on('message', (text) => messages.push(`${number} ${text}`));
    return client;
  });
  await Promise.all(clients.map((client) => new Promise((resolve) => client.on('open', resolve))));
  const feature = process[Symbol.for('millrace.auto')]?.features.ws;
  // Until it has looked at the class.
  while (feature?.state === 'waiting' && feature.why === null) await new Promise(setImmediate);
  for (let turn = 0; turn < turns; turn++) {
    for (let i = 0; i < 10; i++) {
      for (const each of server.clients) each.send(`${turn} ${i}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const closed = clients.map((client) => new Promise((resolve) => client.on('close', resolve)));
  for (const client of clients) client.close();
  await Promise.all(closed);
  server.close();
  const { state, why } = feature ?? {};
  process.stdout.write(JSON.stringify({ state, why, messages: messages.sort() }));
});
