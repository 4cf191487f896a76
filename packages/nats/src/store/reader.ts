/**
 * Reads the whole stream, from the last message that was taken in on, by a push consumer that the broker forgets when it is
 * not heard any more. One for each node, which leaves out on arrival what has no member here: NATS before 2.10 filters by one
 * subject alone, and a consumer for each room costs the broker tens of times what a subscription does.
 */

import {
  clearInterval,
  clearTimeout,
  performance,
  setInterval,
  setTimeout,
} from '@millrace/base/timers';
import type { JetStreamManager, StreamInfo } from '../client-types.js';
import { deliveryOf } from '../jetstream.js';
import type { Arrival, Link } from '../link.js';

/** Takes a message in; false: there is no room for it now. */
type OnStored = (subject: string, payload: Uint8Array) => boolean;

const nanoseconds = 1e6;
const heartbeatMs = 1000;
/**
 * Time in ms after which the broker forgets a consumer: one whose node was away is of no use, as reading goes on with
 * another.
 */
const inactiveMs = 10_000;
const againMs = 50;
const flowOrHeartbeat = 100;

export class Reader {
  readonly #link: Link;
  readonly #owner: string;
  readonly #onStored: OnStored;
  /** Number of the last message taken in; null before the end of the stream was first seen. */
  #last: number | null = null;
  /** Creation time of the stream by the broker: another stream has its own numbers. */
  #created = '';
  #consumer = '';
  #delivered = 0;
  #heardMs = 0;
  #opens = 0;
  #stop: () => void = () => {};
  #again: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout | null = null;
  lag = 0;
  replays = 0;
  /** Called when reading has to begin anew: `open()` does. */
  onLost: () => void = () => {};

  constructor(link: Link, owner: string, onStored: OnStored) {
    this.#link = link;
    this.#owner = owner;
    this.#onStored = onStored;
  }

  /** Begins, or begins anew. `info` must be current. Rejects with what the broker says. */
  async open(jsm: JetStreamManager, info: StreamInfo): Promise<void> {
    this.stop();
    if (this.#last === null) this.#last = info.state.last_seq;
    else {
      this.replays++;
      // Another stream, or one that has lost its end: messages whose numbers are known from before are not taken in twice.
      if (info.created !== this.#created || info.state.last_seq < this.#last) this.#last = 0;
    }
    this.#created = info.created;
    this.#delivered = 0;
    const opened = ++this.#opens;
    const subject = this.#link.subject(this.#owner, 'read', this.#link.node, String(opened));
    this.#heardMs = performance.now();
    this.#stop = this.#link.subscribe(subject, (payload, arrival) => {
      if (opened === this.#opens) this.#receive(payload, arrival);
    });
    if (this.#consumer !== '')
      jsm.consumers.delete(info.config.name, this.#consumer).catch(() => {});
    // Named here, so that it can be removed even when reading has ended before the broker answers.
    this.#consumer = `${this.#link.node}_${opened}`;
    await jsm.consumers.add(info.config.name, {
      name: this.#consumer,
      deliver_subject: subject,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: this.#last + 1,
      ack_policy: 'none',
      replay_policy: 'instant',
      flow_control: true,
      idle_heartbeat: heartbeatMs * nanoseconds,
      inactive_threshold: inactiveMs * nanoseconds,
      mem_storage: true,
      num_replicas: 1,
    });
    if (opened !== this.#opens) return;
    this.#watch = setInterval(() => {
      if (performance.now() - this.#heardMs > 3 * heartbeatMs) this.#lost();
    }, heartbeatMs).unref();
  }

  stop(): void {
    this.#opens++;
    this.#stop();
    this.#stop = () => {};
    if (this.#watch !== null) clearInterval(this.#watch);
    if (this.#again !== null) clearTimeout(this.#again);
    this.#watch = null;
    this.#again = null;
  }

  #lost(): void {
    this.stop();
    this.onLost();
  }

  #receive(payload: Uint8Array, { subject, reply, headers }: Arrival): void {
    this.#heardMs = performance.now();
    if (headers?.code === flowOrHeartbeat) {
      const answer = reply || headers.get('Nats-Consumer-Stalled');
      if (answer) this.#link.publish(answer, new Uint8Array(0));
      if (Number(headers.get('Nats-Last-Consumer') || 0) > this.#delivered) this.#lost();
      return;
    }
    const place = deliveryOf(reply);
    // Sent to this subject by somebody other than the stream.
    if (place === null) return;
    if (place.delivered !== this.#delivered + 1) {
      this.#lost();
      return;
    }
    if (!this.#onStored(subject, payload)) {
      // It is read again from here on when the queue has had a moment to empty.
      this.stop();
      this.#again = setTimeout(() => this.onLost(), againMs);
      return;
    }
    this.#delivered = place.delivered;
    this.#last = place.stored;
    this.lag = place.pending;
  }
}
