/** What clients were told and what they saw: all that the soak is to prove about messages. */
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

/** What one connection hears: each message once, those of a sender's connection in order and, while there is no fault, all of them. */
export class Heard {
  #last = new Map();
  #ledger;
  #disturbances;

  /** @param {Ledger} ledger @param {import('./disturbances.js').Disturbances} disturbances */
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
