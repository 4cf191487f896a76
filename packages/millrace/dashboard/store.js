/** Store of what has come in: half an hour of each series of each process, one value a second. */

/** Seconds that are kept. */
export const capacity = 1800;

/** Lateness in seconds that no answer of a process has. */
const setBackSeconds = 10;

/** A series of one process: its name and labels apart, and its values by second. */
class Column {
  constructor(key) {
    const brace = key.indexOf('{');
    this.name = brace < 0 ? key : key.slice(0, brace);
    /** @type {Record<string, string>} */
    this.labels = {};
    for (const [, label, value] of key.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)) {
      this.labels[label] = JSON.parse(value);
    }
    this.values = new Float64Array(capacity).fill(Number.NaN);
    this.last = Number.NaN;
  }
}

export class Process {
  /** @type {Map<string, Column>} */
  columns = new Map();
  /** @type {Map<string, Column[]>} */
  byName = new Map();
  /** Time of each second's sample, in ms since 1970; another second's stands for none. */
  stamps = new Float64Array(capacity);
  report = null;
  /** Watch of the process: `{ port, recent }`; null without one. */
  watch = null;
  /** Time of its last sample, in ms on the clock of this page. */
  heardAt = performance.now();

  constructor(info) {
    this.info = info;
  }

  get isThread() {
    return this.info.thread !== 0;
  }

  add(at, values) {
    const second = Math.round(at / 1000);
    for (const [key, value] of Object.entries(values)) {
      this.#column(key).last = value ?? Number.NaN;
    }
    this.stamps[second % capacity] = at;
    for (const column of this.columns.values()) column.values[second % capacity] = column.last;
  }

  /** Reports whether there is a sample of this second. */
  has(second) {
    return Math.round(this.stamps[second % capacity] / 1000) === second;
  }

  /** Takes back what is later than this second. */
  forgetAfter(second) {
    for (let slot = 0; slot < capacity; slot += 1) {
      if (this.stamps[slot] > (second + 0.5) * 1000) this.stamps[slot] = 0;
    }
  }

  #column(key) {
    let column = this.columns.get(key);
    if (column === undefined) {
      column = new Column(key);
      this.columns.set(key, column);
      this.byName.set(column.name, [...(this.byName.get(column.name) ?? []), column]);
    }
    return column;
  }
}

export class Store {
  /** @type {Map<string, Process>} */
  processes = new Map();
  /** Switches of features: { at, process, feature, on }. */
  marks = [];
  /** The second of the latest sample. */
  latest = 0;

  /** Takes what a server tells at first. Processes that it does not know have ended with an earlier one. */
  hello({ processes, now }) {
    const known = new Set(processes.map(({ id }) => id));
    for (const [id, process] of this.processes) {
      if (!known.has(id)) process.info = { ...process.info, endedAt: process.info.endedAt ?? now };
    }
    for (const { report = null, watch = null, ...info } of processes) {
      Object.assign(this.put(info), { report, watch });
    }
  }

  put(info) {
    let process = this.processes.get(info.id);
    if (process === undefined) {
      process = new Process(info);
      this.processes.set(info.id, process);
    }
    process.info = info;
    return process;
  }

  sample({ process: id, at, values }) {
    const second = Math.round(at / 1000);
    if (second < this.latest - setBackSeconds) this.#setBack(second);
    const process = this.processes.get(id);
    process?.add(at, values);
    if (process !== undefined) process.heardAt = performance.now();
    this.latest = Math.max(this.latest, second);
  }

  /** The clock was set back: what it called later would be in the way, and the page would stand still until then. */
  #setBack(second) {
    this.latest = second;
    for (const process of this.processes.values()) process.forgetAfter(second);
    this.marks = this.marks.filter(({ at }) => at <= second * 1000);
  }

  mark(mark) {
    if (this.marks.some(({ at, process }) => at === mark.at && process === mark.process)) return;
    this.marks.push(mark);
  }

  report({ process, report }) {
    const known = this.processes.get(process);
    if (known !== undefined) known.report = report;
  }

  watch({ process, watch }) {
    const known = this.processes.get(process);
    if (known !== undefined) known.watch = watch;
  }

  forget(id) {
    this.processes.delete(id);
  }

  /** Processes of a server that is gone are nobody's to forget but ours. */
  forgetEnded(now, afterMs) {
    for (const [id, { info }] of this.processes) {
      if (info.endedAt !== null && now - info.endedAt > afterMs) this.forget(id);
    }
  }
}
