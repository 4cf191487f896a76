/**
 * Requests of a namespace to all other nodes that have it: their sockets, an answer of each server, an acknowledgement of
 * each client. A request is open until each node that was asked has answered or is gone, or the time is over; the first
 * failure ends it. Only `#end` ends one, once. Answers are not trusted: one that is malformed, or of a node that was not
 * asked, changes nothing.
 */

import { MillraceError } from '@millrace/base/errors';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import {
  areTexts,
  type Head,
  headOf,
  longestMs,
  type Part,
  pack,
  packValues,
  type Recipients,
} from './record.js';
import type { ServerLink } from './server-link.js';
import { common, type Sender } from './subjects.js';

/** Default of socket.io's other adapters. */
const defaultTimeoutMs = 5000;

/** A request until each node has answered or is gone, or the time is over. */
interface Request {
  readonly asked: ReadonlySet<string>;
  readonly missing: Set<string>;
  readonly timer: NodeJS.Timeout;
  /** A part of an answer of a node that was asked. */
  onPart(node: string, part: unknown): void;
  /**
   * Called for acknowledgements with the number of clients that a node has asked, and when it is gone. These end by their
   * shares or the timeout.
   */
  onCount?(node: string, count: number): void;
  onGone?(node: string): void;
  /** The end: null, or why it is not complete. */
  onEnd(error: Error | null): void;
}

/** The requests of a namespace to all other nodes that have it. */
export class Requests {
  readonly #open = new Map<number, Request>();
  #last = 0;
  readonly #server: ServerLink;
  readonly #namespace: string;
  readonly #sender: Sender;

  constructor(server: ServerLink, namespace: string, sender: Sender) {
    this.#server = server;
    this.#namespace = namespace;
    this.#sender = sender;
  }

  /** Ids of the other nodes. */
  get others(): string[] {
    return this.#server.having(this.#namespace);
  }

  /** The sockets of others. Rejects when one of them does not answer in time, or cannot. */
  sockets(of: Recipients): Promise<unknown[]> {
    const nodes = this.others;
    if (nodes.length === 0) return Promise.resolve([]);
    const request = ++this.#last;
    this.#sender.send(common, pack({ kind: 'fetch', request, ...headOf(of) }, []));
    const sockets: unknown[] = [];
    return new Promise((resolve, reject) => {
      this.#ask(request, nodes, of.flags?.timeout ?? defaultTimeoutMs, {
        onPart: (_, part) => {
          if (Array.isArray(part)) for (const socket of part) sockets.push(socket);
        },
        onEnd: (error) => (error === null ? resolve(sockets) : reject(error)),
      });
    });
  }

  /** Emits an event on the others; each answers once. */
  servers(packet: unknown[], ack: (error: Error | null, responses: unknown[]) => void): void {
    const request = ++this.#last;
    this.#sender.send(common, packValues({ kind: 'emit', packet, request }));
    const responses: unknown[] = [];
    this.#ask(request, this.others, defaultTimeoutMs, {
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
    const request = ++this.#last;
    const timeout = Math.min(to.flags?.timeout ?? 1, longestMs);
    this.#sender.send(common, pack({ kind: 'ask', request, timeout, ...headOf(to) }, parts));
    const nodes = this.others;
    const shares = new Shares(nodes, ack, onCount, () => this.#end(request, null));
    this.#ask(request, nodes, timeout, {
      onPart: (node, value) => shares.answered(node, value),
      onCount: (node, count) => shares.counted(node, count),
      onGone: (node) => shares.gone(node),
      onEnd() {},
    });
  }

  /** An answer of another node. False for what is not well-formed. */
  take(node: string, head: Head): boolean {
    const { kind, request, value, count, sockets, message } = head;
    if (!isId(request)) return false;
    const open = this.#open.get(request);
    const asker = open?.asked.has(node) ? open : null;
    switch (kind) {
      case 'counted':
        if (!isId(count) || count < 0) return false;
        asker?.onCount?.(node, count);
        this.#answered(request, node);
        return true;
      case 'answer':
        asker?.onPart(node, value);
        return true;
      case 'sockets':
        if (!Array.isArray(sockets) || !sockets.every(isDetails)) return false;
        asker?.onPart(node, sockets);
        if (head.isLast === true) this.#answered(request, node);
        return true;
      case 'reply':
        asker?.onPart(node, value);
        this.#answered(request, node);
        return true;
      case 'failed':
        if (typeof message !== 'string') return false;
        if (open?.missing.has(node)) this.#end(request, new Error(`another server: ${message}`));
        return true;
      default:
        return false;
    }
  }

  /** A node no longer has this namespace, or is gone. */
  gone(node: string): void {
    for (const [id, { asked, onGone }] of [...this.#open]) {
      if (asked.has(node)) onGone?.(node);
      this.#answered(id, node);
    }
  }

  /** Ends all requests. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, null);
  }

  /** Asks all nodes. Without any it ends right away. */
  #ask(
    id: number,
    nodes: readonly string[],
    timeoutMs: number,
    asker: Omit<Request, 'asked' | 'missing' | 'timer'>,
  ): void {
    if (nodes.length === 0) {
      asker.onEnd(null);
      return;
    }
    const missing = new Set(nodes);
    const late = () => {
      const message = `timeout reached: ${missing.size} other servers have not answered within ${timeoutMs} ms`;
      this.#end(id, new MillraceError('MILLRACE_E_TIMEOUT', message));
    };
    // After a pause of this process its timers come first: answers that have arrived meanwhile are read before that.
    const timer = setTimeout(() => atTurnEnd(late), Math.min(timeoutMs, longestMs));
    this.#open.set(id, { ...asker, asked: new Set(nodes), missing, timer });
    this.#server.counts.requests++;
  }

  /** The node has given its last part, or is gone. */
  #answered(id: number, node: string): void {
    const request = this.#open.get(id);
    if (!request?.missing.delete(node)) return;
    if (request.missing.size === 0 && request.onGone === undefined) this.#end(id, null);
  }

  #end(id: number, error: Error | null): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    this.#server.counts.requests--;
    clearTimeout(request.timer);
    request.onEnd(error);
  }
}

interface Share {
  /** Null before the node has counted its clients. */
  expected: number | null;
  answered: number;
}

/**
 * Acknowledgements of other nodes' clients. socket.io is told once how many of a node it has to wait for, and cannot take
 * that back: so it is told when a node's share is over, because all have answered or because the node is gone.
 */
class Shares {
  readonly #open = new Map<string, Share>();

  constructor(
    nodes: readonly string[],
    readonly onAnswer: (value: unknown) => void,
    readonly onCount: (count: number) => void,
    readonly onEnd: () => void,
  ) {
    for (const node of nodes) this.#open.set(node, { expected: null, answered: 0 });
  }

  counted(node: string, count: number): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.expected = count;
    this.#look(node, share);
  }

  answered(node: string, value: unknown): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.answered++;
    this.onAnswer(value);
    this.#look(node, share);
  }

  /** Ends a node's share: no more acknowledgements come from it. */
  gone(node: string): void {
    const share = this.#open.get(node);
    if (share === undefined) return;
    share.expected = share.answered;
    this.#look(node, share);
  }

  #look(node: string, { expected, answered }: Share): void {
    if (expected === null || answered < expected) return;
    this.#open.delete(node);
    this.onCount(answered);
    if (this.#open.size === 0) this.onEnd();
  }
}

export const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** Reports whether socket.io can create a remote socket from a value. */
function isDetails(value: unknown): boolean {
  const { id, handshake, rooms } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof handshake === 'object' && areTexts(rooms);
}
