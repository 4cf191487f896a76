/**
 * What leaves, with an order over several subjects. What one turn has for a subject leaves as one message, so messages to
 * several rooms that took turns with each other would change places. Each therefore has its position in the turn, and such
 * messages begin with a list of the subjects that follow: `arrivals.ts` waits for these.
 */
import { encodeBatch, split, type WireRecord } from '../../../broker/wire.js';
import { joinTurn } from '../../../net/turn.js';
import { Outgoing as Numbers } from '../../fleet/numbers.js';
import { following, setPosition } from './record.js';
import { shortName } from './subjects.js';

/** Subjects of a turn before it is divided, so that the list stays short. */
const maxSubjects = 128;
/** Bytes of a message beside its records. */
export const orderBytes = 1024;

interface Message {
  readonly key: string;
  readonly records: readonly WireRecord[];
}

/** Gathers the records of a turn by subject. `key` stands for one; its characters are up to `publish`. */
export class Outgoing {
  #batches = new Map<string, WireRecord[]>();
  #lastKey: string | null = null;
  #isInterleaved = false;
  #position = 0;
  #turn = 0;
  /** By key: what does not leave uses up a number as well, so that others see that they missed it. */
  readonly #numbers = new Numbers();

  constructor(
    readonly node: string,
    readonly maxBytes: () => number,
    readonly publish: (key: string, payload: Buffer) => void,
  ) {}

  add(key: string, record: WireRecord): void {
    if (this.#batches.size === 0) joinTurn(this);
    let records = this.#batches.get(key);
    if (records === undefined) {
      if (this.#batches.size === maxSubjects) this.#send();
      records = [];
      this.#batches.set(key, records);
    } else if (this.#lastKey !== key) {
      this.#isInterleaved = true;
    }
    this.#lastKey = key;
    setPosition(record, this.#position++);
    records.push(record);
  }

  /** Sends what there is. */
  endTurn(): void {
    if (this.#batches.size > 0) this.#send();
  }

  #send(): void {
    const messages: Message[] = [];
    for (const [key, all] of this.#batches) {
      for (const records of split(all, this.maxBytes() - orderBytes))
        messages.push({ key, records });
    }
    const isInterleaved = this.#isInterleaved;
    const turn = this.#turn++ >>> 0;
    this.#batches = new Map();
    this.#lastKey = null;
    this.#isInterleaved = false;
    this.#position = 0;
    for (const [index, { key, records }] of messages.entries()) {
      const all = isInterleaved ? [list(turn, messages.slice(index + 1)), ...records] : records;
      this.publish(key, encodeBatch(this.node, this.#numbers.take(key, 1), all));
    }
  }
}

/** The turn, and the short names of what follows. */
function list(turn: number, messages: readonly Message[]): WireRecord {
  const names = new Set(messages.map(({ key }) => key));
  const data = Buffer.allocUnsafe(4 + 4 * names.size);
  let at = data.writeUInt32BE(turn);
  for (const name of names) at = data.writeUInt32BE(shortName(name), at);
  return { flags: following, data };
}
