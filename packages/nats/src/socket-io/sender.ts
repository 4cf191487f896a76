/** How messages of a namespace leave: in order at the end of the turn, or into the stream of durable rooms. */

import { MillraceError } from '@millrace/base/errors';
import { isError } from '@millrace/base/realm';
import { headerBytes } from '../store/outbox.js';
import { always } from '../store/store.js';
import { orderBytes, TurnOutbox } from '../turn-outbox.js';
import { batchHead, recordBytes, type WireRecord } from '../wire.js';
import { type Head, pack, packValues } from './record.js';
import type { ServerLink } from './server-link.js';
import { durableSubject, nodeKey, subjectOf } from './subscriptions.js';
import type { Recipients } from './types.js';

/** Of a message beside the bytes of its one record. */
const besideBytes = batchHead + recordBytes(0) + Math.max(orderBytes, headerBytes);

/** How many names' subjects are remembered; beyond it they are worked out anew. */
const mostSubjects = 10_000;

export class Sender {
  readonly #server: ServerLink;
  readonly #namespace: string;
  readonly #outbox: TurnOutbox;
  /** By key. */
  readonly #subjects = new Map<string, string>();
  readonly #durableSubject: string;
  #isClosed = false;

  constructor(server: ServerLink, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
    this.#durableSubject = durableSubject(server.link, namespace);
    this.#outbox = new TurnOutbox(server.link, { ordered: true, unit: 'batch' });
  }

  /** Throws MILLRACE_E_TOO_LARGE. */
  send(key: string, record: WireRecord): void {
    this.#check(record);
    if (!this.#isClosed) this.#outbox.add(this.#subjectOf(key), record);
  }

  /**
   * Sends a broadcast, to all nodes through the stream if it is for a durable room. Throws MILLRACE_E_TOO_LARGE, and for
   * such a room MILLRACE_E_OVERLOADED and MILLRACE_E_BROKER: then nothing has happened.
   */
  broadcast(key: string, record: WireRecord, to: Recipients): void {
    const { store } = this.#server;
    if (store === null || !this.#isDurable(to)) {
      this.send(key, record);
      return;
    }
    this.#check(record);
    if (this.#isClosed) return;
    store.reserve(this.#durableSubject, record.data.length);
    store.add(this.#durableSubject, record);
  }

  /** An answer: what cannot be sent must not end in the code that answers. */
  respond(node: string, head: Head): void {
    try {
      this.send(nodeKey(node), packValues(head));
    } catch (error) {
      this.#server.counts.unanswered++;
      const { request } = head;
      const message = isError(error) ? error.message : String(error);
      this.send(nodeKey(node), pack({ kind: 'failed', request, message }, []));
    }
  }

  /** In parts that the broker takes. */
  respondSockets(node: string, request: number, sockets: readonly object[], isLast = true): void {
    const head = { kind: 'sockets', request, sockets, isLast };
    if (sockets.length < 2) {
      this.respond(node, head);
      return;
    }
    try {
      this.send(nodeKey(node), packValues(head));
    } catch {
      const half = sockets.length >> 1;
      this.respondSockets(node, request, sockets.slice(0, half), false);
      this.respondSockets(node, request, sockets.slice(half), isLast);
    }
  }

  close(): void {
    this.#outbox.flush();
    this.#isClosed = true;
  }

  #subjectOf(key: string): string {
    let subject = this.#subjects.get(key);
    if (subject === undefined) {
      subject = subjectOf(this.#server.link, this.#namespace, key);
      if (this.#subjects.size >= mostSubjects) this.#subjects.clear();
      this.#subjects.set(key, subject);
    }
    return subject;
  }

  #isDurable({ rooms, flags }: Recipients): boolean {
    const { isDurable } = this.#server;
    if (flags?.volatile || isDurable === null) return false;
    return rooms.size === 0 ? isDurable === always : [...rooms].some(isDurable);
  }

  #check({ data }: WireRecord): void {
    const { maxPayload } = this.#server.link;
    if (data.length + besideBytes <= maxPayload) return;
    throw new MillraceError(
      'MILLRACE_E_TOO_LARGE',
      `a message of ${data.length} bytes is above the broker's limit of ${maxPayload}; send less at once, or raise max_payload of nats-server`,
    );
  }
}
