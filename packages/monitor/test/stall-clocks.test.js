/** Clocks that jump, and a process that is stopped: none of that is a stall, of the loop or of a worker thread. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { stillClock } from '../../base/test/clocks.js';
import { WorkerWatch } from '../dist/stalls/workers.cjs';

const hourMs = 3_600_000;
const limit = 100;
/** Time between two looks: at a loop that is not stalled, and at a stall. */
const interval = 100;
const sampleMs = 20;
/** Time of a stop that is counted where the system does not tell a stop from a busy machine. */
const countedMs = 200;

/** The watchdog on clocks that stand still until `pass` or `stop`. The loop answers its heartbeats by `answer`. */
async function driven(t) {
  const { port1, port2 } = new MessageChannel();
  const words = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  words[1] = 1;
  const worker = new Worker(new URL('stalls/driven.cjs', import.meta.url), {
    workerData: {
      ...{ words, port: port2, thread: null, cwd: process.cwd(), firstId: 1, isFirst: false },
      ...{ limit, interval, log: false, linesPerMinute: 30, workers: false },
      probes: { host: '127.0.0.1', port: 0, readyAfter: 5000, liveAfter: 60_000 },
    },
    transferList: [port2],
  });
  t.after(() => {
    port1.close();
    return worker.terminate();
  });
  const stalls = [];
  let heartbeat = 0;
  let address = null;
  function receive() {
    for (;;) {
      const received = receiveMessageOnPort(port1);
      if (received === undefined) return;
      const { message } = received;
      assert.equal(message.why, undefined);
      if (typeof message === 'number') heartbeat = message;
      else if (message.stall) stalls.push(message.stall);
      else address = message.probes;
    }
  }
  async function move(passMs, jumpMs, isLook) {
    worker.postMessage({ passMs, jumpMs, isLook });
    const [{ dayMs }] = await once(worker, 'message');
    receive();
    return dayMs;
  }
  // The probes listen in a later turn of its thread.
  while (address === null) await move(0, 0, false);
  return {
    stalls,
    /** The next look comes then. The time of day moves by `jumpMs` more. Resolves with it. */
    pass: (ms, jumpMs = 0) => move(ms, jumpMs, true),
    /** The next look does not come yet. */
    stop: (ms) => move(ms, 0, false),
    answer() {
      assert.notEqual(heartbeat, 0);
      Atomics.store(words, 0, heartbeat);
    },
    ask: (path) => fetch(`http://127.0.0.1:${address.port}${path}`),
    async current() {
      return (await (await this.ask('/stalls')).json()).current;
    },
    /** Looks until the stall is over that the loop has answered. Resolves with the time that took. */
    async over() {
      const before = stalls.length;
      let passed = 0;
      for (; stalls.length === before; passed += sampleMs) await this.pass(sampleMs);
      return passed;
    },
  };
}

describe('the watchdog', () => {
  for (const [name, jumpMs] of [
    ['forward', hourMs],
    ['backward', -hourMs],
  ]) {
    test(`takes no jump of the time of day ${name} for a stall, nor for a part of one`, async (t) => {
      const loop = await driven(t);
      loop.answer();
      await loop.pass(interval, jumpMs);
      await loop.pass(interval, -jumpMs);
      loop.answer();
      await loop.pass(interval, jumpMs);
      assert.deepEqual([loop.stalls, await loop.current()], [[], null]);

      const startedAt = await loop.pass(interval);
      await loop.pass(limit, jumpMs);
      await loop.pass(sampleMs, -jumpMs);
      const { duration } = await loop.current();
      assert.equal(duration, limit + sampleMs);
      loop.answer();
      const passed = await loop.over();
      const [over, ...others] = loop.stalls;
      assert.deepEqual(others, []);
      assert.deepEqual([over.startedAt, over.duration], [startedAt, duration + passed]);
    });
  }

  test('takes a stop while the loop is idle, or has its heartbeat, for no stall', async (t) => {
    const loop = await driven(t);
    // A heartbeat is pending.
    await loop.pass(hourMs);
    assert.equal(await loop.current(), null);
    loop.answer();
    await loop.pass(interval);
    // None is pending.
    await loop.pass(hourMs);
    loop.answer();
    await loop.pass(interval);
    assert.deepEqual([loop.stalls, await loop.current()], [[], null]);
  });

  test('notices a block after a stop', async (t) => {
    const loop = await driven(t);
    await loop.pass(hourMs);
    await loop.pass(limit);
    assert.equal((await loop.current()).duration, limit);
  });

  test('counts no stop as a part of a stall', async (t) => {
    const loop = await driven(t);
    await loop.pass(limit);
    await loop.pass(hourMs);
    assert.equal((await loop.current()).duration, limit + sampleMs + countedMs);
    loop.answer();
    const passed = await loop.over();
    const [{ duration }] = loop.stalls;
    assert.equal(duration, limit + sampleMs + countedMs + passed);
  });

  test('is asked before it looks, and has not counted the stop either', async (t) => {
    const loop = await driven(t);
    await loop.pass(limit);
    await loop.stop(hourMs);
    for (const path of ['/live', '/ready']) assert.equal((await loop.ask(path)).status, 200);
    const { duration } = await loop.current();
    assert.equal(duration, limit + sampleMs + countedMs);
    await loop.pass(sampleMs);
    assert.equal((await loop.current()).duration, duration + sampleMs);
  });
});

describe('the watch of worker threads', () => {
  test('counts no stop of the process', async (t) => {
    const clock = stillClock(t);
    let cpuMs = 0;
    t.mock.method(process, 'cpuUsage', () => ({ user: cpuMs * 1000, system: 0 }));
    const reports = [];
    // The time for which this very process waits for a CPU is counted, and is much shorter.
    const watch = new WorkerWatch(
      hourMs / 2,
      () => false,
      (stall) => reports.push(stall),
    );
    // Its own timer keeps nothing alive.
    const awake = setInterval(() => {}, 60_000);
    t.after(() => {
      clearInterval(awake);
      watch.stop();
    });
    const looks = new EventEmitter();
    const worker = Object.assign(new EventEmitter(), {
      threadId: 1,
      performance: {
        eventLoopUtilization() {
          looks.emit('look');
          return { idle: 0 };
        },
      },
    });
    process.emit('worker', worker);
    async function look(count) {
      for (let i = 0; i < count; i++) await once(looks, 'look');
    }
    /** Time that is more than a report takes. */
    const several = 6;

    await look(1);
    clock.pass(hourMs);
    await look(several);
    assert.deepEqual(reports, []);

    clock.pass(hourMs);
    cpuMs += hourMs;
    await look(several);
    assert.equal(reports.length, 1);

    clock.pass(hourMs);
    worker.emit('exit');
    assert.deepEqual(
      reports.map(({ isOver }) => isOver),
      [false, true],
    );
    for (const { duration } of reports) {
      assert.ok(duration >= hourMs && duration < 1.5 * hourMs, `${duration}`);
    }
  });
});
