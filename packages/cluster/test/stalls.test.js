/** Stalls of the processes, in the primary: while they last, by its probes, and afterwards. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { get, start } from './program.js';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A cluster with probes. `block()` blocks one process, until `release()`; `until` asks the probes until an answer passes. */
async function watched(t, options, workers = 2) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cluster-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'go');
  const program = await start(t, 'plain.js', {
    workers,
    stalls: { log: false, ...options, probes: { port: 0, ...options.probes } },
  });
  const ask = (path) => get(program.probes.port, path);
  async function until(path, passes) {
    for (;;) {
      const answer = await ask(path);
      if (passes(answer)) return answer;
      await sleep(50);
    }
  }
  // The watch of a process starts beside it.
  const pids = await program.pids();
  await until('/metrics', ({ text }) => pids.every((pid) => text.includes(`process="${pid}"`)));
  return {
    program,
    ask,
    async block() {
      program.get(`/block-until?file=${encodeURIComponent(file)}`).catch(() => {});
      await program.wrote('blocked');
    },
    release: () => writeFileSync(file, 'go'),
    until,
  };
}

const currentOf = ({ text }) => JSON.parse(text).current;

describe('a stall of a process', () => {
  test('is named by the probes of the primary while it lasts, and counted there afterwards', async (t) => {
    const { program, ask, block, release, until } = await watched(t, {});
    const pids = await program.pids();
    await block();
    const isNamed = (answer) => currentOf(answer)[0]?.at?.function === 'blockUntil';
    const [current, ...others] = currentOf(await until('/stalls', isNamed));
    assert.deepEqual(others, []);
    assert.ok(pids.includes(current.pid) && current.isOver === false);
    assert.match(current.at.file, /plain\.js$/);
    // The other process goes on.
    for (const path of ['/live', '/ready']) assert.equal((await ask(path)).status, 200);
    const { text } = await ask('/metrics');
    const blocked = new RegExp(
      `^millrace_loop_blocked_ms\\{slot="${current.slot}",process="${current.pid}"\\} [1-9]`,
      'm',
    );
    assert.match(text, blocked);
    assert.equal(text.match(/^# TYPE millrace_loop_blocked_ms /gm).length, 1);

    release();
    const over = await program.next('stall');
    assert.deepEqual([over.pid, over.slot, over.isOver], [current.pid, current.slot, true]);
    assert.equal(over.at.function, 'blockUntil');
    const { stalls, processes } = await program.call('stats');
    const { [over.state]: count } = stalls.counts;
    assert.ok(count >= 1 && stalls.durations[over.state] >= over.duration);
    const mine = processes.find(({ pid }) => pid === over.pid);
    assert.ok(mine.stalls >= 1 && mine.stalledMs >= over.duration);
    const recent = await program.call('recentStalls');
    assert.deepEqual(
      recent.find(({ pid, id }) => pid === over.pid && id === over.id),
      over,
    );
  });

  test('makes the primary unready when no other process is ready, and not live when it lasts', async (t) => {
    const limits = { probes: { readyAfter: 1, liveAfter: 2 } };
    const { program, ask, block, release, until } = await watched(t, limits, 1);
    assert.equal((await until('/ready', ({ status }) => status === 200)).text, 'ready\n');
    await block();
    const { text } = await until('/ready', ({ status }) => status === 503);
    const [pid] = await program.pids();
    assert.match(text, new RegExp(`^no process is ready\nprocess ${pid} \\(slot 1\\): .*blocked`));
    await until('/live', ({ status }) => status === 503);
    release();
    for (const path of ['/ready', '/live']) await until(path, ({ status }) => status === 200);
    assert.equal((await ask('/other')).status, 404);
  });
});

describe('probes of a cluster', () => {
  test('whose port is taken are left out with a line, and the cluster serves', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    t.after(() => taken.close());
    const { port } = taken.address();
    const program = await start(t, 'plain.js', { stalls: { probes: { port } } });
    await program.logged(`probes cannot listen on 127.0.0.1:${port}: the port is taken`);
    assert.equal(program.probes, null);
    assert.equal((await program.get()).status, 200);
  });

  test('count a process that nothing watches as the primary knows it', async (t) => {
    const { program, ask } = await watched(t, {}, 1);
    const [pid] = await program.pids();
    process.kill(pid, 'SIGKILL');
    await program.next('death');
    await program.next('ready');
    const { processes } = await program.call('stats');
    assert.equal(processes.length, 1);
    // Its watch may not have told yet where it is.
    assert.equal((await ask('/live')).status, 200);
  });
});
