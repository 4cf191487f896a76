/** What other nodes send to the subjects that are open here, each message once and in the order of its sender. */
import type { Link } from '../../broker/link.js';
import { decodeBatch } from '../../broker/wire.js';
import { Expected } from './numbers.js';
import type { Counts } from './stats.js';

/** Takes one message in. False: there is no room for it, and it counts as refused. Its bytes are for it alone until it returns. */
export type OnRecord = (flags: number, data: Uint8Array) => boolean;

interface Channel {
  readonly expected: Expected;
  readonly stop: () => void;
}

export class Receiver {
  readonly #link: Link;
  readonly #counts: Counts;
  readonly #channels = new Map<string, Channel>();

  constructor(link: Link, counts: Counts) {
    this.#link = link;
    this.#counts = counts;
  }

  /** Number of subjects that are heard. */
  get size(): number {
    return this.#channels.size;
  }

  /** Hears a subject, which must not be open, until `close()`. It takes some microseconds here and at the broker, so it need not be put off. */
  open(subject: string, onRecord: OnRecord): void {
    const expected = new Expected();
    const stop = this.#link.subscribe(subject, (payload) => {
      const batch = decodeBatch(payload);
      if (batch === null) {
        this.#counts.malformed++;
        return;
      }
      const { sender, sequence: first, records } = batch;
      const seen = expected.seen(sender, first, records.length);
      expected.reached(sender, first + records.length);
      this.#count(seen, records.length);
      for (let index = Math.max(0, seen); index < records.length; index++) {
        const { flags, data } = records[index]!;
        if (!onRecord(flags, data)) this.#counts.refused++;
      }
    });
    this.#channels.set(subject, { expected, stop });
  }

  #count(seen: number, records: number): void {
    const counts = this.#counts;
    counts.receivedBatches++;
    counts.received += records - Math.max(0, seen);
    if (seen > 0) counts.duplicates += seen;
    else counts.missed -= seen;
  }

  close(subject: string): void {
    this.#channels.get(subject)?.stop();
    this.#channels.delete(subject);
  }

  /** A node is not going to be heard again. */
  forget(sender: string): void {
    for (const { expected } of this.#channels.values()) expected.forget(sender);
  }
}
