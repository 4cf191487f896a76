/** Turns that are blocked, and the functions that did it. */
import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { observe } from 'millrace/observe';

// The compiler would make one of it and its caller, before the profiler is on.
setFlagsFromString('--no-opt');
setFlagsFromString('--no-maglev');

function hogs(ms) {
  const from = process.cpuUsage();
  while (process.cpuUsage(from).user < ms * 1000);
}

/** What happens within the first second is the start-up. */
const afterStart = () => sleep(Math.max(0, 1050 - performance.now()));

const nextTurn = () => new Promise(setImmediate);

async function observeHogs(t) {
  await afterStart();
  const observation = observe({ blockedMs: 30 });
  t.after(() => observation.stop());
  await sleep(10);
  const isSeen = () =>
    observation.report().loop.functions.some(({ name, selfMs }) => name === 'hogs' && selfMs > 0);
  // The thread that takes samples may have no CPU for some time.
  for (let i = 0; i < 5 || (i < 200 && !isSeen()); i++) {
    setTimeout(hogs, 0, 100);
    await sleep(5);
    // In a turn of its own.
    await nextTurn();
  }
  observation.stop();
  return observation.report().loop;
}

test('the function that blocked is found', async (t) => {
  const { blockedTurns, blockedTotalMs, blockedMaxMs, attributedMs, functions } =
    await observeHogs(t);
  assert.ok(blockedTurns >= 5, `${blockedTurns}`);
  assert.ok(blockedTotalMs > 5 * 30 && blockedMaxMs > 30);
  assert.ok(attributedMs > 0 && attributedMs <= blockedTotalMs);
  const found = functions.find(({ name }) => name === 'hogs');
  assert.equal(found?.file, import.meta.filename);
  assert.equal(found.line, 13);
  assert.ok(found.selfMs > 0 && found.totalMs >= found.selfMs);
});

test('functions are reported before the observation has ended, and later ones, too', async (t) => {
  await afterStart();
  const observation = observe({ blockedMs: 30 });
  t.after(() => observation.stop());
  const selfMs = () => observation.report().loop.functions[0]?.selfMs ?? 0;
  const hogUntil = async (isSo) => {
    while (!isSo()) {
      setTimeout(hogs, 0, 100);
      await sleep(5);
      await nextTurn();
    }
  };
  await hogUntil(() => selfMs() > 0);
  const first = selfMs();
  await hogUntil(() => selfMs() > first);
});

test('another session that profiles keeps its profile, and time is attributed beside it', async (t) => {
  const other = new Session();
  other.connect();
  t.after(() => other.disconnect());
  other.post('Profiler.enable');
  other.post('Profiler.start');
  const { attributedMs, functions } = await observeHogs(t);
  assert.ok(attributedMs > 0 && functions.length > 0);
  const profile = await new Promise((resolve, reject) => {
    other.post('Profiler.stop', (error, result) =>
      error ? reject(error) : resolve(result.profile),
    );
  });
  assert.ok(profile.samples.length > 0);
});

test('without a blocked turn nothing is profiled', async (t) => {
  await afterStart();
  const observation = observe({ blockedMs: 3_600_000 });
  t.after(() => observation.stop());
  await sleep(10);
  hogs(60);
  await sleep(10);
  observation.stop();
  const { blockedTurns, functions, turns } = observation.report().loop;
  assert.deepEqual([blockedTurns, functions], [0, []]);
  assert.ok(turns > 0);
});
