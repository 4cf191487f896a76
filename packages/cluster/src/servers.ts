/**
 * The servers of a process of a cluster. A server there asks the primary for its socket, and Node.js does so by a function of
 * `node:cluster` that is called for each `listen()`. It is replaced here, so that connections come as dispatch.ts hands them out;
 * all else about a server, such as `address()` and `close()`, is as in Node.js.
 *
 * The maps of open connections and sessions are filled here; draining and reports only read them. A connection that arrives is
 * answered once: `took`, `refused` (its server is closed), or `missed` (no file descriptor was left, so it came without a handle).
 */
import cluster from 'node:cluster';
import type { EventEmitter } from 'node:events';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { MillraceError } from '@millrace/base/errors';
import { nextTick } from '@millrace/base/timers';
import { type FromPrimary, type Query, type RawHandle, tell } from './protocol.js';

/** A server's handle, as `node:net` wants it. */
interface Handle {
  onconnection?: (status: number, client: RawHandle) => void;
  listen(): number;
  close(callback?: () => void): void;
  getsockname(out: object): number;
  ref(): void;
  unref(): void;
  hasRef(): boolean;
}

type ListenQuery = Pick<Query, 'address' | 'port'> &
  Partial<Pick<Query, 'backlog' | 'flags'>> & { addressType: unknown; fd?: number };

type Done = (errno: number, handle: Handle | null) => void;
type GetServer = (server: Server, query: ListenQuery, done: Done) => void;

interface TlsServer {
  getTicketKeys(): Buffer;
  setTicketKeys(keys: Buffer): void;
}

type Http2Session = EventEmitter & { close(): void };

interface Entry {
  readonly server: Server;
  readonly done: Done;
  handle: Handle | null;
  /** The last connection that came for it. */
  last: number;
}

const entries = new Map<number, Entry>();
const asked = new WeakSet<Server>();
let main: Server | null = null;
let count = 0;
const waiting: (() => void)[] = [];

/** Open connections of each server that listens, or has listened, through the primary. */
export const connections = new Map<Server, Set<Socket>>();

/** Sessions of HTTP/2. */
export const sessions = new Set<{ close(): void }>();

/** Marks a server as the application's own. */
export function isMain(server: Server): void {
  main = server;
}

export const asksToListen = (server: Server): boolean => server.listening || asked.has(server);

/** Reports whether some server listens, or is going to. */
export const isListening = (): boolean => entries.size > 0;

/** Resolves when some server listens. */
export function firstListening(): Promise<void> {
  for (const server of connections.keys()) if (server.listening) return Promise.resolve();
  return new Promise((resolve) => waiting.push(resolve));
}

export function replaceGetServer(): void {
  const node = cluster as unknown as { _getServer?: GetServer };
  const usual = node._getServer;
  if (typeof usual !== 'function') {
    const message = `serve() does not know how servers listen in processes of Node.js ${process.version}; use another release of one of them`;
    throw new MillraceError('MILLRACE_E_INVALID_ARGUMENT', message);
  }
  node._getServer = (server, query, done) => {
    const { addressType, fd = -1 } = query;
    // Unix domain sockets and datagrams are as without a cluster of this kind.
    if (fd >= 0 || (addressType !== 4 && addressType !== 6)) {
      usual.call(cluster, server, query, done);
    } else {
      ask(server, { ...query, addressType }, done);
    }
  };
}

/** A message of the primary about servers and their connections. */
export function receive(body: FromPrimary, handle: RawHandle | undefined): void {
  if (body.type === 'granted') granted(body);
  else if (body.type === 'connection') connection(body, handle);
  else if (body.type === 'got' && entries.get(body.server)?.last !== body.connection) {
    tell({ type: 'missed', connection: body.connection });
  }
}

function ask(server: Server, query: ListenQuery & { addressType: 4 | 6 }, done: Done): void {
  const { address, port, addressType, backlog = 511, flags = 0 } = query;
  const id = count++;
  asked.add(server);
  entries.set(id, { server, done, handle: null, last: 0 });
  const tickets = isTls(server) ? server.getTicketKeys().toString('base64') : null;
  const place = { address, port, addressType, backlog, flags, tickets };
  tell({ type: 'listen', server: id, isMain: server === main, ...place });
}

type Granted = Extract<FromPrimary, { type: 'granted' }>;

function granted({ server: id, errno, address, tickets, oneRequest }: Granted): void {
  const entry = entries.get(id)!;
  const { server, done } = entry;
  if (errno !== 0) {
    entries.delete(id);
    asked.delete(server);
    done(errno, null);
    return;
  }
  if (tickets !== null && isTls(server)) server.setTicketKeys(Buffer.from(tickets, 'base64'));
  track(server);
  if (oneRequest) closeAfterAnswer(server as HttpServer);
  const handle: Handle = {
    listen: () => 0,
    close: (callback) => {
      entries.delete(id);
      tell({ type: 'unlisten', server: id });
      if (callback !== undefined) nextTick(callback);
    },
    getsockname: (out) => {
      Object.assign(out, address);
      return 0;
    },
    // The channel to the primary is what keeps the process alive.
    ref: () => {},
    unref: () => {},
    hasRef: () => true,
  };
  entry.handle = handle;
  server.once('listening', () => {
    for (const resolve of waiting.splice(0)) resolve();
  });
  done(0, handle);
}

function connection(
  { connection: id, server, head }: Extract<FromPrimary, { type: 'connection' }>,
  client: RawHandle | undefined,
): void {
  const entry = entries.get(server);
  const accept = entry?.handle?.onconnection;
  if (client === undefined) {
    tell({ type: 'missed', connection: id });
    return;
  }
  if (entry === undefined || accept === undefined) {
    client.close();
    tell({ type: 'refused', connection: id });
    return;
  }
  entry.last = id;
  tell({ type: 'took', connection: id });
  if (head === null) accept.call(entry.handle, 0, client);
  else {
    // Before anybody else sees it.
    const putBack = (socket: Socket) => socket.unshift(Buffer.from(head, 'base64'));
    entry.server.prependOnceListener('connection', putBack);
    accept.call(entry.handle, 0, client);
    entry.server.off('connection', putBack);
  }
}

function track(server: Server): void {
  if (connections.has(server)) return;
  const open = new Set<Socket>();
  connections.set(server, open);
  const add = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  server.on('connection', add);
  // Encrypted ones are a socket around another one; requests are on the outer one.
  server.on('secureConnection', add);
  server.on('session', (session: Http2Session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
}

const isTls = (server: unknown): server is TlsServer =>
  typeof (server as Partial<TlsServer>).getTicketKeys === 'function';

/** Makes each response the last one on its connection. */
export function closeAfterAnswer(server: HttpServer): void {
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    if (req.httpVersionMajor === 1) closeAfter(res);
  });
}

/** Makes a response of which nothing has been sent the last one on its connection, whatever the application says. */
export function closeAfter(res: ServerResponse): void {
  const { writeHead } = res;
  // It writes all heads, including those that Node.js writes by itself.
  res.writeHead = (...args: unknown[]) => {
    const at = args.findIndex((arg) => typeof arg === 'object' && arg !== null);
    // Nothing else is touched: Node.js loses cookies when headers that were set meet others in an array.
    if (at < 0) res.setHeader('Connection', 'close');
    else args[at] = withClose(args[at] as object);
    return writeHead.apply(res, args as Parameters<typeof writeHead>);
  };
}

/** Headers for `writeHead()`: an object, or an array of names and values, or of pairs. */
function withClose(headers: object): object {
  const isOther = (name: unknown) => String(name).toLowerCase() !== 'connection';
  if (!Array.isArray(headers)) {
    const others = Object.entries(headers).filter(([name]) => isOther(name));
    return { ...Object.fromEntries(others), Connection: 'close' };
  }
  const flat: unknown[] = Array.isArray(headers[0]) ? headers.flat(1) : headers;
  return [...flat.filter((_, i) => isOther(flat[i - (i % 2)])), 'Connection', 'close'];
}
