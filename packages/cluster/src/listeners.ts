/**
 * The sockets on which the primary listens: that of the application, and those of whatever else its processes serve. They outlive the
 * processes: while there is none, clients wait instead of being refused. A socket is opened by the first server that asks for it,
 * shared by all that ask for the same place, and closed when no process listens on it any more, except for the one of the application.
 *
 * A {@link Listener} accepts and finds the key of the client; its {@link Dispatch} decides on the process.
 */
import { createServer, type Socket } from 'node:net';
import { constants } from 'node:os';
import { performance } from '@millrace/base/timers';
import { Dispatch } from './dispatch.js';
import type { StickyKey } from './options.js';
import type { ClusterProcess } from './process.js';
import type { Query, RawHandle, SocketName } from './protocol.js';
import { addressKey, headKey, readHead } from './sticky.js';

type Place = Pick<Query, 'address' | 'port' | 'backlog' | 'flags'>;

/** In `flags`: no IPv4 on a socket of IPv6 (libuv's UV_TCP_IPV6ONLY). */
const ipv6Only = 1;

type Accepted = Socket & { readonly _handle: RawHandle | null };

/** Beyond this many, connections for which nobody has time are closed. */
const usualMaxWaiting = 10_000;

let connections = 0;

export class Listener {
  readonly dispatch = new Dispatch();
  /** Tickets of the first process; see {@link Query}. */
  tickets: string | null = null;
  readonly #sticky: StickyKey | null;
  readonly #maxWaiting: number;
  /** Connections whose head is being read, each with a function that ends that. */
  readonly #reading = new Map<Socket, () => void>();
  readonly #server = createServer({ pauseOnConnect: true }, (socket) => {
    this.#accept(socket as Accepted);
  });

  constructor(sticky: StickyKey | null, maxWaiting = usualMaxWaiting) {
    this.#sticky = sticky;
    this.#maxWaiting = maxWaiting;
  }

  /** Accepted connections that no process has taken yet. */
  get waiting(): number {
    return this.#reading.size + this.dispatch.waiting;
  }

  get name(): SocketName | null {
    return this.#server.address() as SocketName | null;
  }

  async open({ address, port, backlog, flags }: Place): Promise<void> {
    const host = address === null ? {} : { host: address };
    const server = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...host, port, backlog, ipv6Only: (flags & ipv6Only) !== 0 }, () => {
        server.off('error', reject);
        // Such as having no file descriptors left: it goes on when there are some.
        server.on('error', () => {});
        resolve();
      });
    });
  }

  /** Accepts nothing more. What was accepted is still handed on, with as much of its head as there is. */
  stop(): void {
    this.#server.close();
    for (const finish of [...this.#reading.values()]) finish();
  }

  close(): void {
    this.dispatch.close();
    this.stop();
  }

  #accept(socket: Accepted): void {
    // A client has reset its connection before it had a process.
    socket.on('error', () => {});
    if (this.waiting >= this.#maxWaiting) {
      this.dispatch.refuse(socket);
      return;
    }
    const sticky = this.#sticky;
    const address = addressKey(socket.remoteAddress);
    if (sticky === null) this.#offer(socket, null, null);
    else if (sticky.by === 'address') this.#offer(socket, address, null);
    else {
      const finish = readHead(socket, (bytes, head) => {
        this.#reading.delete(socket);
        if (bytes === null) return;
        this.#offer(socket, headKey(head, sticky) ?? address, bytes.toString('base64'));
      });
      this.#reading.set(socket, finish);
    }
  }

  #offer(socket: Accepted, key: string | null, head: string | null): void {
    this.dispatch.offer({ id: ++connections, socket, key, head, at: performance.now() });
  }
}

const { EADDRINUSE, EINVAL } = constants.errno;
const refused = { address: null, tickets: null, oneRequest: false };

export class Listeners {
  readonly #sticky: StickyKey | null;
  readonly #oneRequest: boolean;
  readonly #byKey = new Map<string, Promise<Listener>>();
  readonly #open = new Set<Listener>();
  #main: Listener | null = null;
  /** The port that was asked for. */
  #mainPort = 0;
  #isClosed = false;

  constructor(sticky: StickyKey | null, oneRequest: boolean) {
    this.#sticky = sticky;
    this.#oneRequest = oneRequest;
  }

  /** The address of the application's socket, or of the first one if the application listens by itself; null while it does not listen. */
  get address(): SocketName | null {
    const [first] = this.#open;
    return (this.#main ?? first)?.name ?? null;
  }

  /** Accepted connections that no process has taken yet. */
  get waiting(): number {
    return [...this.#open].reduce((sum, listener) => sum + listener.waiting, 0);
  }

  get refused(): number {
    return [...this.#open].reduce((sum, { dispatch }) => sum + dispatch.refused, 0);
  }

  openMain(place: Place): Promise<Listener> {
    if (this.#main === null) this.#mainPort = place.port;
    return this.#get('main', place);
  }

  /** Lets a server of a process share a socket, which is opened if there is none, and tells the process. */
  async join(process: ClusterProcess, query: Query): Promise<void> {
    const { server } = query;
    const oneRequest = this.#oneRequest;
    try {
      const listener = await this.#of(query);
      if (process.state === 'gone') return;
      const { dispatch, name: address } = listener;
      if (dispatch.has(process)) throw Object.assign(new Error(), { errno: -EADDRINUSE });
      listener.tickets ??= query.tickets;
      const { tickets } = listener;
      process.tell({ type: 'granted', server, errno: 0, address, tickets, oneRequest });
      // It may still listen, since an error would end it with all its requests; but it gets nothing any more.
      if (process.state !== 'draining') dispatch.join(process, server);
    } catch (error) {
      const { errno = -EINVAL } = error as NodeJS.ErrnoException;
      process.tell({ type: 'granted', server, ...refused, errno });
    }
  }

  /** The process is handed nothing any more. */
  leave(process: ClusterProcess): void {
    for (const { dispatch } of this.#open) dispatch.leave(process);
  }

  gone(process: ClusterProcess): void {
    for (const { dispatch } of this.#open) dispatch.gone(process);
  }

  unlisten(process: ClusterProcess, server: number): void {
    const left = [...this.#open].filter(({ dispatch }) => dispatch.unlisten(process, server));
    // The next process will want the socket of the one that ends.
    if (process.state !== 'draining') this.prune((listener) => left.includes(listener));
  }

  took(process: ClusterProcess, connection: number): void {
    for (const { dispatch } of this.#open) dispatch.took(process, connection);
  }

  didRefuse(process: ClusterProcess, connection: number): void {
    for (const { dispatch } of this.#open) dispatch.didRefuse(process, connection);
  }

  /** Reports whether the process had still to take it. */
  didMiss(process: ClusterProcess, connection: number): boolean {
    return [...this.#open].some(({ dispatch }) => dispatch.didMiss(process, connection));
  }

  /** Closes those that no process listens on any more, as after a reload to another port. */
  prune(isMeant: (listener: Listener) => boolean = () => true): void {
    for (const [key, opening] of this.#byKey) {
      void opening.then((listener) => {
        if (key === 'main' || listener.dispatch.size > 0 || !isMeant(listener)) return;
        if (!this.#open.delete(listener)) return;
        this.#byKey.delete(key);
        listener.close();
      });
    }
  }

  /** Accepts nothing more, and resolves when all that was accepted has a process. */
  async stop(): Promise<void> {
    for (const listener of this.#open) listener.stop();
    await Promise.all([...this.#open].map(({ dispatch }) => dispatch.settled()));
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#open) listener.close();
    this.#open.clear();
  }

  #of(query: Query): Promise<Listener> {
    const { server, port, address, addressType, isMain } = query;
    const isMainPort = port === this.#mainPort || port === this.#main?.name?.port;
    if (isMain || (port > 0 && isMainPort)) return this.openMain(query);
    const unique = port === 0 ? `0#${server}` : port;
    return this.#get(`${address}|${unique}|${addressType}`, query);
  }

  #get(key: string, place: Place): Promise<Listener> {
    let opening = this.#byKey.get(key);
    if (opening === undefined) {
      opening = this.#opened(key, place);
      this.#byKey.set(key, opening);
      // The next one that asks may have more luck.
      opening.catch(() => this.#byKey.delete(key));
    }
    return opening;
  }

  async #opened(key: string, place: Place): Promise<Listener> {
    const listener = new Listener(this.#sticky);
    await listener.open(place);
    if (this.#isClosed) {
      listener.close();
      throw new Error('the socket was opened after close()');
    }
    this.#open.add(listener);
    if (key === 'main') this.#main = listener;
    return listener;
  }
}
