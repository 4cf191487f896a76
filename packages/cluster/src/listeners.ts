/** All sockets on which the primary listens: that of the application, and those of whatever else its processes serve. */
import { constants } from 'node:os';
import { Listener, type Place } from './listener.js';
import type { ClusterProcess } from './process.js';
import type { Granted, Query, SocketName } from './protocol.js';
import type { StickyKey } from './sticky.js';

const { EADDRINUSE, EINVAL } = constants.errno;

export class Listeners {
  readonly #sticky: StickyKey | null;
  readonly #oneRequest: boolean;
  readonly #byKey = new Map<string, Promise<Listener>>();
  readonly #open = new Set<Listener>();
  #main: Listener | null = null;
  /** The port that was asked for. */
  #mainPort = 0;

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
    return this.#sum((listener) => listener.waiting);
  }

  get refused(): number {
    return this.#sum((listener) => listener.dispatch.refused);
  }

  openMain(place: Place): Promise<Listener> {
    if (this.#main === null) this.#mainPort = place.port;
    return this.#get('main', place);
  }

  /** Lets a server of a process share a socket, which is opened if there is none, and tells the process. */
  async join(process: ClusterProcess, query: Query): Promise<void> {
    try {
      const listener = await this.#of(query);
      if (process.state === 'gone') return;
      const { dispatch } = listener;
      if (dispatch.has(process)) throw Object.assign(new Error(), { errno: -EADDRINUSE });
      process.tell({ type: 'granted', ...listener.grant(query, this.#oneRequest) });
      // It may still listen, since an error would end it with all its requests; but it gets nothing any more.
      if (process.state !== 'draining') dispatch.join(process, query.server);
    } catch (error) {
      const errno = (error as NodeJS.ErrnoException).errno ?? -EINVAL;
      process.tell({ type: 'granted', ...refusal(query, errno) });
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

  /** Whether the process had still to take it. */
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
    for (const listener of this.#open) listener.close();
    this.#open.clear();
  }

  #of(query: Query): Promise<Listener> {
    const { server, port, address, addressType, isMain } = query;
    if (isMain || (port > 0 && this.#isMainPort(port))) return this.openMain(query);
    const unique = port === 0 ? `0#${server}` : port;
    return this.#get(`${address}|${unique}|${addressType}`, query);
  }

  #isMainPort(port: number): boolean {
    return port === this.#mainPort || port === this.#main?.name?.port;
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
    this.#open.add(listener);
    if (key === 'main') this.#main = listener;
    return listener;
  }

  #sum(of: (listener: Listener) => number): number {
    let sum = 0;
    for (const listener of this.#open) sum += of(listener);
    return sum;
  }
}

const refusal = ({ server }: Query, errno: number): Granted => ({
  server,
  errno,
  address: null,
  tickets: null,
  oneRequest: false,
});
