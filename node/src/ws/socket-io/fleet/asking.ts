/** What one node asks all others of its namespace. */
import type { Fleet } from './fleet.js';
import { headOf } from './head.js';
import { type Part, pack, packValues } from './record.js';
import { longestMs, Requests } from './requests.js';
import type { Sending } from './sending.js';
import { Shares } from './shares.js';
import type { Recipients } from './socket-io.js';
import { common } from './subjects.js';

/** As those of socket.io's other adapters. */
const defaultTimeoutMs = 5000;

export class Asking {
  readonly requests: Requests;
  readonly #fleet: Fleet;
  readonly #namespace: string;
  readonly #sending: Sending;

  constructor(fleet: Fleet, namespace: string, sending: Sending) {
    this.requests = new Requests(fleet.counts);
    this.#fleet = fleet;
    this.#namespace = namespace;
    this.#sending = sending;
  }

  /** The other nodes. */
  get others(): string[] {
    return this.#fleet.nodes.having(this.#namespace);
  }

  /** The sockets of others. Rejects when one of them does not answer in time, or cannot. */
  sockets(of: Recipients): Promise<unknown[]> {
    const nodes = this.others;
    if (nodes.length === 0) return Promise.resolve([]);
    const request = this.requests.next();
    this.#sending.send(common, pack({ kind: 'fetch', request, ...headOf(of) }, []));
    const sockets: unknown[] = [];
    return new Promise((resolve, reject) => {
      this.requests.open(request, nodes, of.flags?.timeout ?? defaultTimeoutMs, {
        onPart: (_, part) => {
          if (Array.isArray(part)) for (const socket of part) sockets.push(socket);
        },
        onEnd: (error) => (error === null ? resolve(sockets) : reject(error)),
      });
    });
  }

  /** Emits an event on the others; each answers once. */
  servers(packet: unknown[], ack: (error: Error | null, responses: unknown[]) => void): void {
    const request = this.requests.next();
    this.#sending.send(common, packValues({ kind: 'emit', packet, request }));
    const responses: unknown[] = [];
    this.requests.open(request, this.others, defaultTimeoutMs, {
      onPart: (_, response) => responses.push(response),
      onEnd: (error) => ack(error, responses),
    });
  }

  /** Broadcasts a packet to the clients of others, each of which acknowledges it. */
  clients(
    parts: Part[],
    to: Recipients,
    onCount: (count: number) => void,
    ack: (value: unknown) => void,
  ): void {
    const request = this.requests.next();
    const timeout = Math.min(to.flags?.timeout ?? 1, longestMs);
    this.#sending.send(common, pack({ kind: 'ask', request, timeout, ...headOf(to) }, parts));
    const nodes = this.others;
    const shares = new Shares(nodes, ack, onCount, () => this.requests.finish(request));
    this.requests.open(request, nodes, timeout, {
      onPart: (node, value) => shares.answered(node, value),
      onCount: (node, count) => shares.counted(node, count),
      onGone: (node) => shares.gone(node),
      onEnd() {},
    });
  }
}
