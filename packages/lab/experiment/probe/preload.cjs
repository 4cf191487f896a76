/**
 * The lab's probe, put into every Node.js process of a server by NODE_OPTIONS. Sends a line of JSON about this process to
 * the lab's socket four times a second and whenever it is asked. It keeps nothing alive, changes nothing that the
 * application sees, but for a listener of 'exit', and gives up silently. Of worker threads it says nothing.
 */
'use strict';

const { isMainThread } = require('node:worker_threads');

const LINE_MS = 250;
/** Ms between two looks at how late the loop is, each of which wakes the process up. */
const DELAY_MS = 20;
/** Most objects whose counters are read: more would take too long to do it by the clock. */
const MAX_SOURCES = 200;

const path = process.env.MILLRACE_LAB_PROBE;
if (path && isMainThread) quietly(() => begin(path));

function begin(path) {
  const { connect } = require('node:net');
  const heap = process.env.MILLRACE_LAB_COLLECTIONS ? collectionsMeter() : heapMeter();
  const millrace = millraceMeter();
  const delay = delayMeter();

  const socket = connect(path);
  socket.unref();
  const send = (mark) => {
    if (!socket.destroyed) quietly(() => socket.write(`${JSON.stringify(line(mark))}\n`));
    heap.skip();
  };
  const timer = setInterval(send, LINE_MS, null).unref();
  const atExit = () => send(null);
  process.on('exit', atExit);
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    process.off('exit', atExit);
    delay.stop();
    quietly(() => heap.stop());
    quietly(() => millrace.stop());
  });
  socket.setEncoding('utf8').on('data', (marks) => {
    for (const mark of marks.trim().split('\n')) {
      if (mark.startsWith('begin')) delay.reset();
      send(mark);
    }
  });
  send(null);

  function line(mark) {
    const { idle, active } = performance.eventLoopUtilization();
    return {
      mark,
      pid: process.pid,
      node: process.version,
      at: performance.timeOrigin + performance.now(),
      ...{ idleMs: idle, activeMs: active },
      delayMs: delay.read(),
      ...heap.read(),
      millrace: millrace.read(mark !== null),
    };
  }
}

/**
 * Meter of how late a timer is. The histogram of `monitorEventLoopDelay` leaves out the first turn after a reset, which is the
 * longest when a window begins with a task that blocks.
 */
function delayMeter() {
  const { createHistogram } = require('node:perf_hooks');
  const late = createHistogram({ lowest: 1, highest: 3600e9, figures: 2 });
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    // Timers round to milliseconds; less than that is one that has been looked at already.
    if (now - last < DELAY_MS - 1) return;
    late.record(Math.max(1, Math.round((now - last - DELAY_MS) * 1e6)));
    last = now;
  };
  const timer = setInterval(look, DELAY_MS).unref();
  return {
    read() {
      look();
      if (late.count === 0) return null;
      const [p50, p99, max] = [late.percentile(50), late.percentile(99), late.max];
      return { p50: p50 / 1e6, p99: p99 / 1e6, max: max / 1e6 };
    },
    reset() {
      late.reset();
      last = performance.now();
    },
    stop() {
      clearInterval(timer);
    },
  };
}

function heapMeter() {
  const { getHeapStatistics } = require('node:v8');
  const unknown = { gcCount: null, gcMs: null, allocatedBytes: null };
  return { read: () => ({ ...unknown, ...sizes(getHeapStatistics()) }), skip() {}, stop() {} };
}

const sizes = (heap) => ({
  heapUsedBytes: heap.used_heap_size,
  heapTotalBytes: heap.total_heap_size,
  externalBytes: heap.external_memory,
});

/**
 * Allocated is what the heap has grown by between collections: each tells the heap's size before and after it. What
 * reading that allocates does not count. A collection costs more by 0.1 to 0.6 ms: who collects more pays more.
 */
function collectionsMeter() {
  const { GCProfiler, getHeapStatistics } = require('node:v8');
  const used = () => getHeapStatistics().used_heap_size;
  const start = () => {
    const profiler = new GCProfiler();
    profiler.start();
    return profiler;
  };
  let profiler = start();
  let last = used();
  const totals = { gcCount: 0, gcMs: 0, allocatedBytes: 0 };
  const grow = (to) => {
    totals.allocatedBytes += Math.max(0, to - last);
  };
  return {
    read() {
      const now = getHeapStatistics();
      for (const { cost, beforeGC, afterGC } of profiler.stop().statistics) {
        totals.gcCount += 1;
        totals.gcMs += cost / 1000;
        grow(beforeGC.heapStatistics.usedHeapSize);
        last = afterGC.heapStatistics.usedHeapSize;
      }
      grow(now.used_heap_size);
      profiler = start();
      return { ...totals, ...sizes(now) };
    },
    skip() {
      last = used();
    },
    stop() {
      profiler.stop();
    },
  };
}

/**
 * The counters of Millrace's objects in this process, summed by kind; of one that is gone, as they were last. Where `millrace/auto` is loaded
 * there is a kind `auto`, without counters.
 */
function millraceMeter() {
  const { subscribe, unsubscribe } = require('node:diagnostics_channel');
  const sources = new Map();
  const gone = {};
  const add = (source) => {
    sources.set(source, {});
  };
  subscribe('millrace:source', add);
  return {
    read(isAsked) {
      if (sources.size > MAX_SOURCES && !isAsked) return undefined;
      for (const source of sources.keys()) {
        const stats = quietly(() => source.stats());
        if (stats) {
          sources.set(source, counters(stats));
          continue;
        }
        sum(gone, source.kind, sources.get(source));
        sources.delete(source);
      }
      const all = {};
      const auto = process[Symbol.for('millrace.auto')];
      if (auto !== undefined && auto.settings.mode !== 'off') all.auto = {};
      for (const [kind, totals] of Object.entries(gone)) sum(all, kind, totals);
      for (const [source, totals] of sources) sum(all, source.kind, totals);
      return all;
    },
    stop() {
      unsubscribe('millrace:source', add);
      sources.clear();
    },
  };
}

/** The numbers in an object, those further in as `refused.closed`; lists are not looked into. */
function counters(stats, prefix = '', found = {}) {
  for (const [key, value] of Object.entries(stats)) {
    if (typeof value === 'number') found[prefix + key] = value;
    else if (value && typeof value === 'object' && !Array.isArray(value)) {
      counters(value, `${prefix}${key}.`, found);
    }
  }
  return found;
}

function sum(all, kind, totals) {
  all[kind] ??= {};
  for (const [key, value] of Object.entries(totals)) all[kind][key] = (all[kind][key] ?? 0) + value;
}

function quietly(run) {
  try {
    return run();
  } catch {
    return undefined;
  }
}
