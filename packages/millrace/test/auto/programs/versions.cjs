/**
 * A server and clients of the version of ws that is named, used in all ways that this version has. Prints what each client has received,
 * in which order callbacks came, and what fan-out has saved.
 */
const { once } = require('node:events');
const WebSocket = require(process.argv[2]);

const Server = WebSocket.WebSocketServer ?? WebSocket.Server;
const turn = () => new Promise((resolve) => setImmediate(resolve));
const count = 4;

async function main() {
  const { saved, stateOf, unwritten } = await import('./fan-out.js');
  const server = new Server({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const received = [];
  const clients = [];
  const sockets = [];
  for (let n = 0; n < count; n++) {
    const list = [];
    const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
    client.on('message', (data, isBinary) => {
      const isText = isBinary === undefined ? typeof data === 'string' : !isBinary;
      list.push(`${isText ? 'text' : 'bytes'} ${data}`);
    });
    client.on('ping', (data) => list.push(`ping ${data}`));
    const opened = once(client, 'open');
    const [socket] = await once(server, 'connection');
    await opened;
    sockets.push(socket);
    clients.push(client);
    received.push(list);
  }
  while (stateOf('ws') === 'waiting') await turn();
  const log = [];
  const note = (name) => (error) => log.push(error ? `${name}: ${error.message}` : name);
  for (let round = 0; round < 12; round++) {
    for (const [n, socket] of sockets.entries()) {
      socket.send(`all ${round}`);
      socket.send(`${n} of ${round}`, note(`${n} of ${round}`));
      process.nextTick(note(`tick ${n} of ${round}`));
      socket.send(Buffer.from(`bytes ${round}`));
      socket.send(new Uint8Array([65, 66, 48 + n]), note(`array ${n} of ${round}`));
      socket.ping(`ping ${round}`);
      socket.send('frag', { fin: false });
      socket.send('ment', { fin: true }, note(`fragment ${n} of ${round}`));
      socket.send(7 * round);
      socket.send('x'.repeat(70_000 * (round % 2)), note(`long ${n} of ${round}`));
      // Who looks at it gets no frames gathered.
      if (round > 7) log.push(`${n}: ${socket.bufferedAmount}`);
      socket.send(Buffer.alloc(200, 'a'));
    }
    await turn();
    if (round % 4 < 2) continue;
    for (const socket of sockets) socket.send('single');
    await turn();
  }
  const closed = clients.map((client) => once(client, 'close'));
  for (const [n, socket] of sockets.entries()) {
    socket.send('last');
    socket.close(4000 + n, 'over');
  }
  const codes = (await Promise.all(closed)).map(([code, reason]) => `${code} ${reason}`);
  server.close();
  const sent = { received, log, codes };
  console.log(
    JSON.stringify({
      sent,
      state: stateOf('ws'),
      saved: await saved(),
      unwritten: await unwritten(),
    }),
  );
}

main();
