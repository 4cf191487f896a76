/**
 * What a namespace asks all other nodes that have it: their sockets, an answer of each server, an acknowledgement of each
 * client. A request is open until each node that was asked has answered or is gone, or the time is over; the first
 * failure ends it. Only `OpenRequests` ends one, once. Answers are not trusted: one that is malformed, or of a node that was
 * not asked, changes nothing.
 */

import { MillraceError } from '@millrace/base/errors';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { areTexts, type Head, headOf, pack, packValues } from './record.js';
import type { Sender } from './sender.js';
import type { ServerLink } from './server-link.js';
import { common } from './subscriptions.js';
import { longestMs, type Part, type Recipients } from './types.js';

/** As those of socket.io's other adapters. */
const defaultTimeoutMs = 5000;

/** The requests of a namespace to all other nodes that have it. */
export class Requests {
  readonly #open: OpenRequests;
  readonly #server: ServerLink;
  readonly #namespace: string;
  readonly #sender: Sender;

  constructor(server: ServerLink, namespace: string, sender: Sender) {
    this.#open = new OpenRequests(server.counts);
    this.#server = server;
    this.#namespace = namespace;
    this.#sender = sender;
  }

  /** The other nodes. */
  get others(): string[] {
    return this.#server.having(this.#namespace);
  }

  /** The sockets of others. Rejects when one of them does not answer in time, or cannot. */
  sockets(of: Recipients): Promise<unknown[]> {
    const nodes = this.others;
    if (nodes.length === 0) return Promise.resolve([]);
    const request = this.#open.next();
    this.#sender.send(common, pack({ kind: 'fetch', request, ...headOf(of) }, []));
    const sockets: unknown[] = [];
    return new Promise((resolve, reject) => {
      this.#open.open(request, nodes, of.flags?.timeout ?? defaultTimeoutMs, {
        onPart: (_, part) => {
          if (Array.isArray(part)) for (const socket of part) sockets.push(socket);
        },
        onEnd: (error) => (error === null ? resolve(sockets) : reject(error)),
      });
    });
  }

  /** Emits an event on the others; each answers once. */
  servers(packet: unknown[], ack: (error: Error | null, responses: unknown[]) => void): void {
    const request = this.#open.next();
    this.#sender.send(common, packValues({ kind: 'emit', packet, request }));
    const responses: unknown[] = [];
    this.#open.open(request, this.others, defaultTimeoutMs, {
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
    const request = this.#open.next();
    const timeout = Math.min(to.flags?.timeout ?? 1, longestMs);
    this.#sender.send(common, pack({ kind: 'ask', request, timeout, ...headOf(to) }, parts));
    const nodes = this.others;
    const shares = new Shares(nodes, ack, onCount, () => this.#open.finish(request));
    this.#open.open(request, nodes, timeout, {
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
    switch (kind) {
      case 'counted':
        if (!isId(count) || count < 0) return false;
        this.#open.counted(request, node, count);
        return true;
      case 'answer':
        this.#open.part(request, node, value);
        return true;
      case 'sockets':
        if (!Array.isArray(sockets) || !sockets.every(isDetails)) return false;
        this.#open.part(request, node, sockets);
        if (head.isLast === true) this.#open.answered(request, node);
        return true;
      case 'reply':
        this.#open.part(request, node, value);
        this.#open.answered(request, node);
        return true;
      case 'failed':
        if (typeof message !== 'string') return false;
        this.#open.fail(request, node, new Error(`another server: ${message}`));
        return true;
      default:
        return false;
    }
  }

  /** A node no longer has this namespace, or is gone. */
  gone(node: string): void {
    this.#open.gone(node);
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#open.close();
  }
}

/** Told what becomes of a request. */
interface Asker {
  /** A part of an answer of a node that was asked. */
  onPart(node: string, part: unknown): void;
  /** For acknowledgements: how many clients a node has asked; and that it is gone. These end by `finish()` or the timeout. */
  onCount?(node: string, count: number): void;
  onGone?(node: string): void;
  /** The end: null, or why it is not complete. */
  onEnd(error: Error | null): void;
}

interface Request {
  readonly asker: Asker;
  readonly asked: ReadonlySet<string>;
  readonly missing: Set<string>;
  readonly timer: NodeJS.Timeout;
}

/** Requests until each node has answered or is gone, or the time is over. */
class OpenRequests {
  readonly #open = new Map<number, Request>();
  #last = 0;

  constructor(readonly counts: { requests: number }) {}

  /** The number of a request, for the message that asks. */
  next(): number {
    return ++this.#last;
  }

  /** Without a node to ask it ends right away. */
  open(id: number, nodes: readonly string[], timeoutMs: number, asker: Asker): void {
    if (nodes.length === 0) {
      asker.onEnd(null);
      return;
    }
    const late = () => this.#end(id, this.#late(id, timeoutMs));
    const timer = setTimeout(late, Math.min(timeoutMs, longestMs));
    this.#open.set(id, { asker, asked: new Set(nodes), missing: new Set(nodes), timer });
    this.counts.requests++;
  }

  part(id: number, node: string, part: unknown): void {
    const request = this.#open.get(id);
    if (request?.asked.has(node)) request.asker.onPart(node, part);
  }

  counted(id: number, node: string, count: number): void {
    const request = this.#open.get(id);
    if (request?.asked.has(node)) request.asker.onCount?.(node, count);
    this.answered(id, node);
  }

  /** The node has given its last part, or is gone. */
  answered(id: number, node: string): void {
    const request = this.#open.get(id);
    if (!request?.missing.delete(node)) return;
    if (request.missing.size === 0 && request.asker.onGone === undefined) this.#end(id, null);
  }

  fail(id: number, node: string, error: Error): void {
    if (this.#open.get(id)?.missing.has(node)) this.#end(id, error);
  }

  gone(node: string): void {
    for (const [id, { asker, asked }] of [...this.#open]) {
      if (asked.has(node)) asker.onGone?.(node);
      this.answered(id, node);
    }
  }

  finish(id: number): void {
    this.#end(id, null);
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, null);
  }

  #end(id: number, error: Error | null): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    this.counts.requests--;
    clearTimeout(request.timer);
    request.asker.onEnd(error);
  }

  #late(id: number, timeoutMs: number): MillraceError {
    const { missing = new Set() } = this.#open.get(id) ?? {};
    return new MillraceError(
      'MILLRACE_E_TIMEOUT',
      `timeout reached: ${missing.size} other servers have not answered within ${timeoutMs} ms`,
    );
  }
}

interface Share {
  /** Null before the node has counted its clients. */
  expected: number | null;
  answered: number;
}

/**
 * What the clients of other nodes acknowledge. socket.io is told once how many of a node it has to wait for, and cannot take
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

  /** No more will come from it than has come. */
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

/** What socket.io makes a remote socket of. */
function isDetails(value: unknown): boolean {
  const { id, handshake, rooms } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof handshake === 'object' && areTexts(rooms);
}
