/**
 * A socket on which the primary listens for its processes. It outlives them: while there is none, clients wait instead of being
 * refused.
 */
import { createServer, type Socket } from 'node:net';
import { performance } from '@millrace/base/timers';
import { Dispatch } from './dispatch.js';
import { readHead } from './head.js';
import type { Granted, Query, RawHandle, SocketName } from './protocol.js';
import { addressKey, headKey, type StickyKey } from './sticky.js';

export type Place = Pick<Query, 'address' | 'port' | 'backlog' | 'flags'>;

/** In `flags`: no IPv4 on a socket of IPv6 (libuv's UV_TCP_IPV6ONLY). */
const ipv6Only = 1;

type Accepted = Socket & { readonly _handle: RawHandle | null };

/** Beyond this many, connections for which nobody has time are closed. */
const usualMaxWaiting = 10_000;

let connections = 0;

export class Listener {
  readonly dispatch = new Dispatch();
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

  /** What a process that asked for it is told. */
  grant({ server, tickets }: Query, oneRequest: boolean): Granted {
    this.tickets ??= tickets;
    return { server, errno: 0, address: this.name, tickets: this.tickets, oneRequest };
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
