import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** As many connected sockets, at the server's end. */
export async function accepted(t, count) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = [];
  for (let i = 0; i < count; i++) {
    const coming = once(server, 'connection');
    const client = connect(server.address().port, '127.0.0.1').resume();
    const [socket] = await coming;
    sockets.push(socket);
    t.after(() => {
      client.destroy();
      socket.destroy();
    });
  }
  t.after(() => server.close());
  return sockets;
}

/** After the end of the turn that runs now. */
export async function turnOver() {
  for (let i = 0; i < 3; i++) await nextTurn();
}
