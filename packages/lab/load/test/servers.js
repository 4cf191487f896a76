/** Small servers for the generator's tests: honest ones, and ones with a fault built in. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import { Server } from 'socket.io';
import { WebSocketServer } from 'ws';

/** Sends a text as it came. */
export const honestly = (member, text) => member.send(text);

/**
 * A server of the raw protocol.
 *
 * @param {(member: WebSocket, text: string) => void} [deliver] called for each message and each
 *   member of its room; this is where a server can be faulty
 * @param {(member: WebSocket) => void} [welcome] called for each new connection
 */
export async function rawServer(deliver = honestly, welcome = () => {}) {
  const rooms = new Map();
  return serve((socket, { searchParams }) => {
    const name = searchParams.get('room');
    if (!rooms.has(name)) rooms.set(name, new Set());
    const room = rooms.get(name).add(socket);
    socket.on('close', () => room.delete(socket));
    socket.on('message', (data) => {
      for (const member of room) deliver(member, data.toString());
    });
    welcome(socket);
  });
}

/**
 * A server of the chat protocol.
 *
 * @param {object} [options]
 * @param {(text: string, n: number) => boolean} [options.refuse] answers the n-th message with an
 *   error in place of delivering it
 * @param {(member: WebSocket, frame: string) => void} [options.deliver] called for each message
 *   and each member of its room
 * @param {object[]} [options.history] what a new member is shown
 * @param {(member: WebSocket) => void} [options.welcome] called for each new connection
 */
export async function chatServer({
  refuse = () => false,
  deliver = honestly,
  history = [],
  welcome = () => {},
} = {}) {
  const rooms = new Map();
  let messages = 0;
  const seen = { names: [], priorities: 0, refs: 0, refused: 0 };
  const server = await serve((socket, { searchParams }) => {
    const from = searchParams.get('name');
    seen.names.push(from);
    const say = (to, frame) => to.send(JSON.stringify(frame));
    welcome(socket);
    say(socket, { t: 'hello', name: from, limits: {} });
    const handlers = {
      join({ room }) {
        if (!rooms.has(room)) rooms.set(room, new Set());
        const members = rooms.get(room).add(socket);
        socket.on('close', () => members.delete(socket));
        say(socket, { t: 'joined', room, members: [], history, moderator: from });
        for (const to of members) say(to, { t: 'presence', room, name: from, on: true });
      },
      msg({ room, text, ref, priority }) {
        if (priority === 'high') seen.priorities++;
        if (ref !== undefined) seen.refs++;
        if (refuse(text, ++messages)) {
          seen.refused++;
          say(socket, { t: 'error', code: 'BUSY', message: 'not now', ref });
          return;
        }
        const id = messages;
        const frame = JSON.stringify({ t: 'msg', room, id, from, text, at: 1 });
        for (const to of rooms.get(room)) deliver(to, frame);
        if (ref !== undefined) say(socket, { t: 'ack', ref, id });
      },
      typing({ room, on }) {
        for (const to of rooms.get(room)) say(to, { t: 'typing', room, name: from, on });
      },
    };
    socket.on('message', (data) => {
      const frame = JSON.parse(data);
      handlers[frame.t](frame);
    });
  });
  return Object.assign(server, { seen });
}

/** A client that a busy machine does not run for long has not gone. */
const PATIENT = { pingTimeout: 600_000, connectTimeout: 600_000 };

/**
 * A server of the socket.io protocol, of the real package.
 *
 * @param {object} [options] of its Server
 * @param {(io: Server, room: string, text: string) => void} [deliver] called for each message
 */
export async function socketIoServer(
  options = {},
  deliver = (io, room, text) => io.to(room).emit('m', text),
) {
  const server = createServer();
  const transports = ['websocket'];
  const io = new Server(server, { ...PATIENT, transports, serveClient: false, ...options });
  io.on('connection', (socket) => {
    const { room } = socket.handshake.query;
    socket.join(room);
    socket.on('m', (text) => deliver(io, room, text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { io, port: server.address().port, close: () => io.close() };
}

/**
 * A server of socket.io as others write it: with its defaults, but for its patience, and events of its own.
 *
 * @param {(socket: import('socket.io').Socket, io: Server) => void} onConnection
 */
export async function socketIoApplication(onConnection) {
  const server = createServer();
  const io = new Server(server, PATIENT);
  io.on('connection', (socket) => onConnection(socket, io));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: server.address().port, close: () => io.close() };
}

async function serve(onConnection) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (socket, request) => {
    socket.on('error', () => {});
    onConnection(socket, new URL(request.url, 'ws://localhost'));
  });
  await once(server, 'listening');
  return {
    port: server.address().port,
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

/** Passes bytes on in pieces of one to five, so that frames arrive split at every place. */
export async function choppingProxy(port) {
  const sockets = new Set();
  const proxy = net.createServer((client) => {
    const server = net.connect(port, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => {});
    }
    client.pipe(server);
    server.on('data', (data) => {
      for (let at = 0, size = 1; at < data.length; at += size, size = (size % 5) + 1) {
        client.write(data.subarray(at, at + size));
      }
    });
    server.on('close', () => client.end());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: proxy.address().port,
    close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

/** Answers whatever is said to it with the same bytes. */
export async function answeringServer(answer) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: server.address().port, close: () => server.close() };
}
