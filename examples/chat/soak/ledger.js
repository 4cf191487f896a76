/**
 * The ledger: all that a soak is to prove about messages.
 *
 * Clients tell it which messages were acknowledged, and what they heard. Each text names its sender, connection and number, so that a
 * listener knows the next one: once, in order, and none missing unless a fault was near. In the end every acknowledged message must be in
 * the database, by its id and with its text.
 */
import { limits } from '../limits.js';
import { openStorage } from '../storage/index.js';

export class Ledger {
  /** Id → text, undefined where it is not known. @type {Map<number, string | undefined>} */
  acknowledged = new Map();
  counts = {};
  faults = [];

  count(what, many = 1) {
    this.counts[what] = (this.counts[what] ?? 0) + many;
  }

  saved(id, text) {
    if (this.acknowledged.has(id)) this.fault(`id ${id} was acknowledged twice`);
    this.acknowledged.set(id, text);
    this.count('acknowledged');
  }

  /** The first hundred say what there is to know. */
  fault(text) {
    this.count('faults');
    if (this.faults.length < 100) this.faults.push(text);
  }
}

/** The times in which a fault may break connections: then that is not a failure of the service. */
export class Disturbances {
  #times = [];

  /** @returns {() => void} ends it */
  begin(at = performance.now()) {
    const time = { from: at, to: Infinity };
    this.#times.push(time);
    return (until = performance.now()) => {
      time.to = until;
    };
  }

  /** Reports whether there was one between two moments. */
  between(from, to = performance.now()) {
    return this.#times.some((time) => time.from <= to && time.to >= from);
  }
}

/** Messages that one connection receives: each once, those of a sender's connection in order and, while there is no fault, all of them. */
export class Heard {
  #last = new Map();
  #ledger;
  #disturbances;

  /** @param {Ledger} ledger @param {Disturbances} disturbances */
  constructor(ledger, disturbances) {
    this.#ledger = ledger;
    this.#disturbances = disturbances;
  }

  /** @param {string} text as talkers make it: `sender/connection/number …` */
  take(text, at = performance.now()) {
    const [mark] = text.split(' ', 1);
    const [sender, connection, digits] = mark.split('/');
    const key = `${sender}/${connection}`;
    const before = this.#last.get(key);
    const number = Number(digits);
    this.#ledger.count('heard');
    this.#last.set(key, { number, at });
    if (before === undefined) return;
    const skipped = number - before.number - 1;
    if (skipped === -1) this.#ledger.fault(`${mark} came twice`);
    else if (skipped < 0) this.#ledger.fault(`${mark} came after number ${before.number}`);
    if (skipped <= 0) return;
    // At most once: what was under way when something broke may be gone.
    this.#ledger.count('missed', skipped);
    if (this.#disturbances.between(before.at, at)) return;
    this.#ledger.fault(`${skipped} before ${mark} did not come, with no fault near`);
  }
}

const PAGE = 5000;
/** For a page of long messages, also where the machine is busy. */
const READ_MS = 120_000;
const MARKER = /^#(\d+)\.(\d+)\./;

/**
 * Faults of the messages that the chat has saved, a sentence each.
 *
 * Every sender of the generator counts from 0 in each run, so in the order of the ids its numbers must go up one by
 * one or start again at 0: then none is missing, doubled or out of order among those that were acknowledged.
 *
 * @param {string} database path or URL
 * @param {object} wanted
 * @param {number} wanted.rooms of the generator at most
 * @param {number} wanted.acks that the generator got
 * @param {string[]} wanted.others rooms of all others
 * @param {Map<number, string | undefined>} wanted.acknowledged ids of all others, with the text where it is known
 * @returns {Promise<string[]>}
 */
export async function faultsOfSaved(database, { rooms, acks, acknowledged, others }) {
  const storage = await openStorage(database, { limits: { ...limits, storageTimeoutMs: READ_MS } });
  const faults = [];
  try {
    const bySender = new Map();
    let saved = 0;
    for (let room = 0; room < rooms; room++) {
      for await (const { id, text } of messages(storage, `load-${room}`)) {
        const [, sender, seq] = MARKER.exec(text) ?? [];
        if (!bySender.has(sender)) bySender.set(sender, []);
        bySender.get(sender).push({ id, seq: Number(seq) });
        saved++;
      }
    }
    if (saved !== acks) faults.push(`${saved} messages are saved, ${acks} were acknowledged`);
    for (const [sender, sent] of bySender) faults.push(...gaps(sender, sent));

    const missing = new Map(acknowledged);
    for (const room of others) {
      for await (const { id, text } of messages(storage, room)) {
        const wanted = missing.get(id);
        if (wanted !== undefined && wanted !== text) {
          faults.push(
            `message ${id} is saved as ${JSON.stringify(text)}, it was ${JSON.stringify(wanted)}`,
          );
        }
        missing.delete(id);
      }
    }
    for (const id of missing.keys()) faults.push(`message ${id} was acknowledged and is not saved`);
    return faults;
  } finally {
    await storage.close();
  }
}

function gaps(sender, sent) {
  sent.sort((a, b) => a.id - b.id);
  const faults = [];
  let before = -1;
  for (const { id, seq } of sent) {
    if (seq !== before + 1 && seq !== 0) {
      faults.push(`sender ${sender} has number ${seq} after ${before} (message ${id})`);
    }
    before = seq;
  }
  return faults;
}

/** A room's messages, the newest page first. */
async function* messages(storage, room) {
  for (let before = null; ; ) {
    const page = await storage.history(room, before, PAGE);
    yield* page;
    if (page.length < PAGE) return;
    before = page[0].id;
  }
}
