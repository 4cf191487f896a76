/** What arrives, in the order in which its sender made it: a turn with several subjects when all of them are there. */
import type { WireBatch, WireRecord } from '../../../broker/wire.js';
import { clearTimeout, setTimeout } from '../../../core/timers.cjs';
import { throwLater } from '../../../core/turn.cjs';
import { following, positionOf } from './record.js';

/** What has been announced may not come: it was sent just before we heard its subject. */
const patienceMs = 100;

/** A turn of a sender of which more is expected. */
interface Held {
  readonly turn: number;
  readonly records: WireRecord[];
  readonly timer: NodeJS.Timeout;
  /** Short names of the subjects that are to come. */
  awaited: number[];
}

/** Hands over records in the order in which their sender made them. */
export class Arrivals {
  readonly #held = new Map<string, Held>();

  /** `hears`: whether messages of this subject come here. What `take` throws is an uncaught exception. */
  constructor(
    readonly hears: (name: number) => boolean,
    readonly take: (sender: string, record: WireRecord) => void,
  ) {}

  /** The message came on the subject with this short name. */
  add({ sender, records }: WireBatch, name: number): void {
    const [first] = records;
    const list = first?.flags === following ? readList(first) : null;
    let held = this.#held.get(sender);
    if (held !== undefined && held.turn !== list?.turn) {
      this.#release(sender, held);
      held = undefined;
    }
    if (list === null) {
      this.#takeAll(sender, records);
      return;
    }
    const awaited = list.names.filter((each) => this.hears(each));
    if (held === undefined) {
      const timer = setTimeout(() => this.#release(sender, held!), patienceMs);
      held = { turn: list.turn, records: [], timer, awaited };
      this.#held.set(sender, held);
    } else {
      // The list of a later message is shorter by what has come, and knows no more than the first.
      held.awaited = held.awaited.filter((each) => each !== name || awaited.includes(name));
    }
    for (const record of records.slice(1)) held.records.push(record);
    if (held.awaited.length === 0) this.#release(sender, held);
  }

  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #release(sender: string, held: Held): void {
    clearTimeout(held.timer);
    this.#held.delete(sender);
    held.records.sort((a, b) => positionOf(a) - positionOf(b));
    this.#takeAll(sender, held.records);
  }

  #takeAll(sender: string, records: readonly WireRecord[]): void {
    for (const record of records) {
      try {
        this.take(sender, record);
      } catch (error) {
        throwLater(error);
      }
    }
  }
}

/** One that is cut off lists nothing. */
function readList({ data }: WireRecord): { turn: number; names: number[] } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const numbers: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) numbers.push(bytes.readUInt32BE(at));
  const [turn = 0, ...names] = numbers;
  return { turn, names };
}
