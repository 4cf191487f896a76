/**
 * The adapter for socket.io. It is socket.io's own in-memory adapter, whichever of the two the server would choose, but
 * for its last step: what it writes to its clients is gathered until the end of the turn.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MillraceError, show } from '../errors.js';
import { checkBackend } from './backend.js';
import { type Connection, flush, Message, queue } from './engine-io.js';

/** What is used of socket.io; its types are not imported, because most users of this package do not have it. */
interface WriteOptions {
  readonly volatile?: boolean | undefined;
}

interface Client {
  readonly conn: Connection;
  writeToEngine(encoded: unknown, options: WriteOptions): void;
}

interface Socket {
  readonly client: Client;
  readonly acks: Map<number, unknown>;
  notifyOutgoingListeners(packet: unknown): void;
}

interface Namespace {
  readonly server: { readonly opts?: { readonly connectionStateRecovery?: unknown } };
  /** What was there before: at first the adapter that the server has chosen itself. */
  readonly adapter?: object;
}

interface Adapter {
  broadcast(packet: unknown, options: object): void;
  broadcastWithAck(packet: unknown, options: object, onCount: unknown, ack: unknown): void;
  apply(options: object, callback: (socket: Socket) => void): void;
  close(): unknown;
  restoreSession(id: string, offset: string): unknown;
}

type AdapterClass = new (namespace: never) => Adapter;

/** The class for each server, so that its namespaces share one. */
const classes = new WeakMap<object, AdapterClass>();

/**
 * An adapter for socket.io, from 4.6 on: `io.adapter(millraceAdapter())`, or `new Server({ adapter: millraceAdapter() })`.
 *
 * It does what the in-memory adapter does, with connection state recovery too. But a broadcast is encoded once, and a
 * client on an open WebSocket gets all broadcasts of a loop turn in one write at its end; packets of its own keep their
 * place between them. All other clients, and those whose packets somebody watches (`packetCreate` or `flush` of
 * engine.io), are written to as always.
 *
 * Throws MILLRACE_E_INVALID_ARGUMENT, when a namespace is made with it, for another version, and when `socket.io-adapter`
 * cannot be found.
 */
export function millraceAdapter(): (namespace: any) => any {
  checkBackend();
  // Called with `new`, so no arrow function.
  return function millraceAdapter(namespace: Namespace): Adapter {
    const server = namespace?.server;
    if (typeof server !== 'object' || server === null) {
      throw unsupported(`the namespace is ${show(namespace)}`);
    }
    let Class = classes.get(server);
    if (Class === undefined) {
      Class = gathering(inMemoryAdapter(namespace));
      classes.set(server, Class);
    }
    return new Class(namespace as never);
  };
}

function unsupported(what: string): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${what}; millraceAdapter() is for io.adapter() of socket.io 4, from 4.6 on`,
  );
}

/** The class that the server takes when it is given no adapter. */
function inMemoryAdapter({ server, adapter }: Namespace): AdapterClass {
  const isRecovering = Boolean(server.opts?.connectionStateRecovery);
  const name = isRecovering ? 'SessionAwareAdapter' : 'Adapter';
  // The server's own, when it has been made without one; else a copy may lie where the application finds socket.io.
  const own = adapter?.constructor;
  const Class = own?.name === name ? own : findAdapters()[name];
  const { apply, restoreSession } = (Class?.prototype ?? {}) as Partial<Adapter>;
  if (typeof apply !== 'function' || typeof restoreSession !== 'function') {
    throw unsupported(`its in-memory adapter is ${show(Class)} without restoreSession()`);
  }
  return Class as AdapterClass;
}

/** `socket.io-adapter` as socket.io itself loads it: packages need not be laid flat. */
function findAdapters(): Record<string, AdapterClass | undefined> {
  let reason: unknown;
  const script = process.argv[1] ?? join(process.cwd(), '-');
  for (const place of [script, join(process.cwd(), '-'), import.meta.url]) {
    try {
      return createRequire(createRequire(place).resolve('socket.io'))('socket.io-adapter');
    } catch (error) {
      reason = error;
    }
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    'socket.io-adapter cannot be found; make the server without an adapter, then call io.adapter(millraceAdapter())',
    { cause: reason },
  );
}

/** The same class, but what it broadcasts is gathered. */
function gathering(Base: AdapterClass): AdapterClass {
  return class MillraceAdapter extends Base {
    /** The options of the broadcast that is under way: how its call of `apply()` is told from any other. */
    #broadcasting: object | null = null;

    override broadcast(packet: unknown, options: object): void {
      this.#broadcasting = options;
      try {
        super.broadcast(packet, options);
      } finally {
        this.#broadcasting = null;
      }
    }

    override broadcastWithAck(
      packet: unknown,
      options: object,
      onCount: unknown,
      ack: unknown,
    ): void {
      this.#broadcasting = options;
      try {
        super.broadcastWithAck(packet, options, onCount, ack);
      } finally {
        this.#broadcasting = null;
      }
    }

    override apply(options: object, callback: (socket: Socket) => void): void {
      if (options !== this.#broadcasting) {
        super.apply(options, callback);
        return;
      }
      const recipient = new Recipient();
      super.apply(options, (socket) => {
        recipient.socket = socket;
        callback(recipient);
      });
    }

    override close(): unknown {
      // The server closes its connections next, without waiting for what is queued.
      flush();
      return super.close();
    }
  };
}

/** Stands before the callback of a broadcast for one socket after the other, with a client that gathers. */
class Recipient implements Socket, Client {
  socket!: Socket;
  #message: Message | null = null;

  get client(): Client {
    return this;
  }

  get conn(): Connection {
    return this.socket.client.conn;
  }

  get acks(): Map<number, unknown> {
    return this.socket.acks;
  }

  notifyOutgoingListeners(packet: unknown): void {
    this.socket.notifyOutgoingListeners(packet);
  }

  writeToEngine(encoded: unknown, options: WriteOptions): void {
    this.#message ??= new Message(encoded);
    const { client } = this.socket;
    if (!queue(client.conn, this.#message, options.volatile === true)) {
      client.writeToEngine(encoded, options);
    }
  }
}
