/** Both ends of a connection on loopback, and what became of it: what every test of sockets needs. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { coalesce } from 'millrace/net';

/** Resolves after the dispatch point of this turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Numbers from 0 to n - 1. */
export const range = (n) => Array.from({ length: n }, (_, i) => i);

/** The two arms of a comparison: what makes a socket of each. */
export const arms = { plain: () => null, coalesced: (socket) => coalesce(socket) };

/**
 * Connects two sockets, which are destroyed after the test. `socket` is the one under test: the client's, or with
 * `side: 'server'` the server's. `options` are those of the server's sockets, `path` is for a local socket.
 */
export async function openPair(t, { side = 'client', path, ...options } = {}) {
  const server = createServer(options);
  server.listen(path ?? { port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({ ...(path ? { path } : server.address()), ...options });
  const [[serverSide]] = await Promise.all([accepted, once(client, 'connect')]);
  server.close();
  t.after(() => {
    client.destroy();
    serverSide.destroy();
  });
  const [socket, peer] = side === 'client' ? [client, serverSide] : [serverSide, client];
  socket.on('error', () => {});
  return { socket, peer, received: collect(peer) };
}

/** What a peer has read. */
export function collect(peer) {
  const chunks = [];
  const waiting = new Set();
  peer.on('data', (chunk) => {
    chunks.push(chunk);
    for (const check of waiting) check();
  });
  const text = () => Buffer.concat(chunks).toString('latin1');
  return {
    text,
    bytes: () => Buffer.concat(chunks),
    /** Resolves when so many bytes have come. */
    async length(bytes) {
      while (text().length < bytes) {
        await new Promise((resolve) => {
          const check = () => waiting.delete(check) && resolve();
          waiting.add(check);
        });
      }
    },
    /** Resolves with how the stream ended, after all of it has been read: `end` or the code of an error. */
    ended: new Promise((resolve) => {
      peer.once('end', () => resolve('end'));
      peer.once('error', (error) => resolve(error.code));
    }),
  };
}

/** What goes to the system from now on: the number of chunks of each write. Nothing public tells, so the handle is asked. */
export function systemWrites(socket) {
  const writes = [];
  const handle = socket._handle;
  const methods = [
    'writev',
    'writeBuffer',
    ...['Utf8', 'Latin1', 'Ascii', 'Ucs2'].map(stringWrite),
  ];
  for (const name of methods) {
    const method = handle[name];
    handle[name] = (request, chunks, ...rest) => {
      // Strings come with their encodings in between.
      if (name === 'writev') writes.push(rest[0] === true ? chunks.length : chunks.length / 2);
      else writes.push(1);
      return method.call(handle, request, chunks, ...rest);
    };
  }
  return writes;
}

const stringWrite = (encoding) => `write${encoding}String`;

/**
 * Writes until the stream takes no more of it, of which the socket takes the first write and no other, whatever the kernel would take.
 * Returns the bytes, and a function by which it goes on.
 */
export async function fill(socket) {
  let goOn;
  for (const name of ['_write', '_writev']) {
    socket[name] = (...args) => {
      goOn = () => socket[name](...args);
    };
  }
  const filler = Buffer.alloc(64 * 1024);
  let bytes = 0;
  while (!socket.writableNeedDrain) {
    socket.write(filler);
    bytes += filler.length;
    await turn();
  }
  const empty = () => {
    delete socket._write;
    delete socket._writev;
    goOn();
  };
  return { bytes, empty };
}
