/** Computes lines of charts from stored values: rates, quotients and levels, of one process or the sum of several. */

/** Longest step in seconds across which a value is kept, as when a sample was late; a longer one is a gap. */
const bridged = 2;
/** Longest step in seconds from which a total's rate is computed; a longer one does not describe the present. */
const longestStep = 5;

const matches = (labels, wanted) =>
  Object.entries(wanted).every(([label, value]) => labels[label] === value);

/** Data of charts: some processes and a span of seconds. */
export class Span {
  /**
   * @param {import('./store.js').Process[]} processes
   * @param {number} from first second
   * @param {number} to last second
   */
  constructor(processes, from, to) {
    this.processes = processes;
    this.from = from;
    this.to = to;
  }

  of(process) {
    return new Span([process], this.from, this.to);
  }

  /** Returns the distinct values of a label among the series of a name. */
  valuesOf(name, label) {
    const values = new Set();
    for (const { byName } of this.processes) {
      for (const { labels } of byName.get(name) ?? []) {
        if (labels[label] !== undefined) values.add(labels[label]);
      }
    }
    return [...values];
  }

  /** Returns a level: the sum or the maximum of all series of this name and these labels. */
  level(name, { where = {}, across = 'sum', oncePerPid = false } = {}) {
    const combine = across === 'max' ? Math.max : (a, b) => a + b;
    return this.#combined(oncePerPid, combine, (process) => {
      const columns = columnsOf(process, name, where);
      if (columns.length === 0) return null;
      return (slot) => total(columns, slot, combine);
    });
  }

  /** Returns the growth per second of the totals of this name. */
  rate(name, { where = {}, oncePerPid = false } = {}) {
    const add = (a, b) => a + b;
    return this.#combined(oncePerPid, add, (process) => {
      const step = stepOf(process, columnsOf(process, name, where), oncePerPid);
      return step && ((slot, second) => step(slot, second)?.perSecond ?? Number.NaN);
    });
  }

  /** Returns the growth of one total per unit of another. */
  quotient(above, below, where = {}) {
    const add = (a, b) => a + b;
    const values = (name) =>
      this.#combined(false, add, (process) => {
        const step = stepOf(process, columnsOf(process, name, where));
        return step && ((slot, second) => step(slot, second)?.change ?? Number.NaN);
      });
    const divisors = values(below);
    return values(above).map((value, n) =>
      value !== null && divisors[n] > 0 ? value / divisors[n] : null,
    );
  }

  /** @returns {(number | null)[]} one for each second; null where there is none */
  #combined(oncePerPid, combine, readerOf) {
    const length = this.to - this.from + 1;
    const values = new Array(length).fill(null);
    for (const process of this.processes) {
      // Threads of a process report the same memory and CPU as the process itself.
      if (oncePerPid && process.isThread && this.processes.length > 1) continue;
      const read = readerOf(process);
      if (read === null) continue;
      let last = null;
      let age = 0;
      for (let n = 0; n < length; n += 1) {
        const second = this.from + n;
        const value = process.has(second)
          ? read(second % process.stamps.length, second)
          : Number.NaN;
        age = Number.isNaN(value) ? age + 1 : 0;
        last = age === 0 ? value : age > bridged || process.has(second) ? null : last;
        if (last === null) continue;
        values[n] = values[n] === null ? last : combine(values[n], last);
      }
    }
    return values;
  }
}

function columnsOf(process, name, where) {
  return (process.byName.get(name) ?? []).filter(({ labels }) => matches(labels, where));
}

/** Returns NaN when no series has a value there. */
function total(columns, slot, combine) {
  let result = Number.NaN;
  for (const { values } of columns) {
    const value = values[slot];
    if (!Number.isNaN(value)) result = Number.isNaN(result) ? value : combine(result, value);
  }
  return result;
}

/** @param {boolean} isOlder whether the totals were counted before their series came up, as those of a process are */
function stepOf(process, columns, isOlder = false) {
  if (columns.length === 0) return null;
  const { stamps } = process;
  return (slot, second) => {
    let before = 1;
    while (before <= longestStep && !process.has(second - before)) before += 1;
    if (before > longestStep) return null;
    const earlier = (second - before) % stamps.length;
    let change = 0;
    for (const { values } of columns) {
      // A new series has counted from 0, unless it is older. A total that falls belongs to a new process.
      const was = Number.isNaN(values[earlier]) ? (isOlder ? values[slot] : 0) : values[earlier];
      if (!Number.isNaN(values[slot])) change += Math.max(0, values[slot] - was);
    }
    return { change, perSecond: (change * 1000) / (stamps[slot] - stamps[earlier]) };
  };
}
