/** How messages of a namespace leave: at the end of the turn, or into the stream of durable rooms. */
import { batchHead, recordBytes, type WireRecord } from '../../../broker/wire.js';
import { isError } from '../../../core/realm.cjs';
import { MillraceError } from '../../../errors.js';
import { headerBytes } from '../../fleet/durable/outbox.js';
import { always } from '../../fleet/options.js';
import type { Fleet } from './fleet.js';
import { Outgoing, orderBytes } from './outgoing.js';
import { type Head, pack, packValues } from './record.js';
import type { Recipients } from './socket-io.js';
import { durableSubject, nodeKey, subjectOf } from './subjects.js';

/** Of a message beside the bytes of its one record. */
const besideBytes = batchHead + recordBytes(0) + Math.max(orderBytes, headerBytes);

export class Sending {
  readonly #fleet: Fleet;
  readonly #outgoing: Outgoing;
  readonly #durableSubject: string;
  #isClosed = false;

  constructor(fleet: Fleet, namespace: string) {
    const { link } = fleet;
    this.#fleet = fleet;
    this.#durableSubject = durableSubject(link, namespace);
    this.#outgoing = new Outgoing(
      link.node,
      () => link.maxPayload,
      (key, payload) => {
        try {
          link.publish(subjectOf(link, namespace, key), payload);
        } catch {
          // Another broker has answered since `#check()`, with a lower limit. Others see that they missed it.
        }
      },
    );
  }

  /** Throws MILLRACE_E_TOO_LARGE. */
  send(key: string, record: WireRecord): void {
    this.#check(record);
    if (!this.#isClosed) this.#outgoing.add(key, record);
  }

  /**
   * Sends a broadcast, to all nodes through the stream if it is for a durable room. Throws MILLRACE_E_TOO_LARGE, and for
   * such a room MILLRACE_E_OVERLOADED and MILLRACE_E_BROKER: then nothing has happened.
   */
  broadcast(key: string, record: WireRecord, to: Recipients): void {
    const { durable } = this.#fleet;
    if (durable === null || !this.#isDurable(to)) {
      this.send(key, record);
      return;
    }
    this.#check(record);
    if (this.#isClosed) return;
    durable.reserve(this.#durableSubject, record.data.length);
    durable.add(this.#durableSubject, record);
  }

  /** An answer: what cannot be sent must not end in the code that answers. */
  respond(node: string, head: Head): void {
    try {
      this.send(nodeKey(node), packValues(head));
    } catch (error) {
      this.#fleet.counts.unanswered++;
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
    this.#outgoing.endTurn();
    this.#isClosed = true;
  }

  #isDurable({ rooms, flags }: Recipients): boolean {
    const { isDurable } = this.#fleet;
    if (flags?.volatile || isDurable === null) return false;
    return rooms.size === 0 ? isDurable === always : [...rooms].some(isDurable);
  }

  #check({ data }: WireRecord): void {
    const { maxPayload } = this.#fleet.link;
    if (data.length + besideBytes <= maxPayload) return;
    throw new MillraceError(
      'MILLRACE_E_TOO_LARGE',
      `a message of ${data.length} bytes is above the broker's limit of ${maxPayload}; send less at once, or raise max_payload of nats-server`,
    );
  }
}
