/** What snippets of several pages take for granted. */
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';

/** A database that numbers the rows of each insert, and a store that keeps what it is given. */
export function storage() {
  const inserts = [];
  const written = [];
  return {
    inserts,
    written,
    db: {
      insertMany: async (rows) => {
        inserts.push(rows);
        return rows.map((_, i) => i + 1);
      },
    },
    store: { write: (points) => void written.push(points) },
  };
}

/** A WebSocket that is open, as a server has it; and a client's side of it. */
export async function socket() {
  const { WebSocket, WebSocketServer } = await import('ws');
  const server = new WebSocketServer({ port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`);
  const received = [];
  client.on('message', (data) => received.push(String(data)));
  const [accepted] = await Promise.all([
    new Promise((resolve) => server.once('connection', resolve)),
    new Promise((resolve) => client.once('open', resolve)),
  ]);
  return { server, client, received, socket: accepted };
}

/** A client as that of Redis: `stream` is its socket, which is connected. */
export async function redisLike() {
  const server = createTcpServer((peer) => peer.resume()).listen(0);
  const stream = connect(server.address().port);
  await new Promise((resolve) => stream.once('connect', resolve));
  return Object.assign(stream, { stream });
}

/** Starts a nats-server for a snippet that names one at 127.0.0.1:4222. It ends with the process. Options: those of `natsServer`. */
export async function broker(options) {
  const { natsServer } = await import('../../../packages/nats/test/nats.js');
  const server = await natsServer({ after: () => {} }, options);
  process.env.BROKER = server.url;
  return server;
}

/** A server of socket.io. */
export async function io() {
  const { Server } = await import('socket.io');
  return new Server(createServer());
}

/** Stands in for the pool of the package `pg`; packages/millrace/test/pg has a server. */
class AnsweredPool {
  options = { max: 1 };
  totalCount = 0;
  idleCount = 0;
  waitingCount = 0;
  Client = class {
    pipeline = false;
    getTransactionStatus = () => 'I';
    on() {}
    removeListener() {}
    query(_config, _values, done) {
      queueMicrotask(() => done(null, { rows: [{ name: 'Ada' }] }));
    }
  };
  query() {}
  end() {}
  connect(done) {
    done(undefined, new this.Client(), () => {});
  }
}

export const pg = { Pool: AnsweredPool };
