/** Sums up a probe's lines for a run. Pure. */

/**
 * @param {Line[][]} processes of each process the lines of the window; of the first one counts what is measured from there
 * @returns {Probe | null} null without a process
 *
 * @typedef {object} Line what probe/preload.cjs sends: totals since the process began, and what is there now
 *
 * @typedef {object} Probe
 * @property {number} processes Node.js processes
 * @property {string} node their version, as `v20.0.0`; several are in one text
 * @property {{ p50: number, p99: number, max: number } | null} loopDelayMs how late a timer was that was due at any time,
 *   in the process where it was latest; null where none was due
 * @property {number | null} utilization busy share of the loop, 0 to 1, of the busiest process
 * @property {number | null} gcMs in the garbage collector, all processes together, as all that follow; this one and the next
 *   two are null where they were not looked at
 * @property {number | null} gcCount
 * @property {number | null} allocatedBytes on the heap of V8; the memory of Buffers is not in it
 * @property {number} heapUsedBytes mean over the window, as the next two
 * @property {number} heapTotalBytes
 * @property {number} externalBytes Buffers among it
 * @property {number | null} fragmentation 1 − used ÷ committed of the heap, over the window
 * @property {Record<string, Record<string, number>>} millrace what Millrace's objects have counted, by kind; empty when there is none
 * @property {Record<'utilization' | 'heap_used_bytes', [number, number][]>} series each as [seconds, value]; of the busiest
 *   process, and in sum
 */
export function summaryOf(processes) {
  if (processes.length === 0) return null;
  const total = (of) => processes.reduce((sum, lines) => sum + of(lines), 0);
  const moved = (key) => {
    const isKnown = processes.every((lines) => lines[0][key] !== null);
    return isKnown ? total((lines) => lines.at(-1)[key] - lines[0][key]) : null;
  };
  const mean = (key) => total((lines) => middle(lines.map((line) => line[key])));
  const heapUsedBytes = mean('heapUsedBytes');
  const heapTotalBytes = mean('heapTotalBytes');
  return {
    processes: processes.length,
    node: [...new Set(processes.map(([{ node }]) => node))].sort().join(', '),
    loopDelayMs: worstDelay(processes),
    utilization: highest(processes.map((lines) => utilization(lines[0], lines.at(-1)))),
    gcMs: moved('gcMs'),
    gcCount: moved('gcCount'),
    allocatedBytes: moved('allocatedBytes'),
    ...{ heapUsedBytes, heapTotalBytes },
    externalBytes: mean('externalBytes'),
    fragmentation: heapTotalBytes > 0 ? 1 - heapUsedBytes / heapTotalBytes : null,
    millrace: millraceOf(processes),
    series: seriesOf(processes),
  };
}

/**
 * For runs whose collections were not looked at. null would be 0 in the arithmetic of a metric that was not said to need
 * them, and 0 in all arms no difference: so to read them fails. JSON leaves them out.
 *
 * @param {Probe | null} probe
 * @returns {Probe | null}
 */
export function withoutCollections(probe) {
  if (probe === null) return null;
  const others = { ...probe };
  for (const key of ['gcMs', 'gcCount', 'allocatedBytes']) {
    Object.defineProperty(others, key, {
      enumerable: false,
      get() {
        throw new Error(`probe.${key} is known only where 'of' is made with ofCollections()`);
      },
    });
  }
  return others;
}

/** null when no time has passed. */
function utilization(from, to) {
  const active = to.activeMs - from.activeMs;
  const all = active + to.idleMs - from.idleMs;
  return all > 0 ? active / all : null;
}

function worstDelay(processes) {
  const last = processes.map((lines) => lines.at(-1).delayMs).filter((each) => each !== null);
  if (last.length === 0) return null;
  const most = (key) => last.reduce((max, each) => Math.max(max, each[key]), 0);
  return { p50: most('p50'), p99: most('p99'), max: most('max') };
}

/** A process with very many of them tells them at the marks alone. */
function millraceOf(processes) {
  const sums = {};
  for (const lines of processes) {
    const told = lines.filter((line) => line.millrace !== undefined);
    const before = told[0]?.millrace ?? {};
    for (const [kind, totals] of Object.entries(told.at(-1)?.millrace ?? {})) {
      sums[kind] ??= {};
      for (const [key, value] of Object.entries(totals)) {
        sums[kind][key] = (sums[kind][key] ?? 0) + value - (before[kind]?.[key] ?? 0);
      }
    }
  }
  return sums;
}

function seriesOf(processes) {
  const start = processes.reduce(
    (least, [{ at }]) => Math.min(least, at),
    Number.POSITIVE_INFINITY,
  );
  // Each process has a clock of its own for its lines; a quarter of a second is one point of all.
  const slots = new Map();
  for (const lines of processes) {
    lines.slice(1).forEach((line, i) => {
      const slot = Math.round((line.at - start) / 250);
      const { busy, heap } = slots.get(slot) ?? { busy: [], heap: new Map() };
      busy.push(utilization(lines[i], line));
      heap.set(line.pid, line.heapUsedBytes);
      slots.set(slot, { busy, heap });
    });
  }
  const points = [...slots].sort(([a], [b]) => a - b);
  const series = (of) =>
    points.map(([slot, each]) => [slot / 4, of(each)]).filter(([, value]) => value !== null);
  return {
    utilization: series(({ busy }) => highest(busy)),
    heap_used_bytes: series(({ heap }) => [...heap.values()].reduce((a, b) => a + b, 0)),
  };
}

const middle = (values) => values.reduce((a, b) => a + b, 0) / values.length;

function highest(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
