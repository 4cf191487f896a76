// The hosts: where in Node's loop an engine's dispatch point lies, and the timer of its holds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MicrotaskHost, TurnHost } from '../../dist/engine/host.js';

function attached(Host) {
  const log = [];
  const host = new Host();
  host.attach({ turn: () => log.push('turn'), holdEnded: () => log.push('hold ended') });
  return { host, log };
}

test('TurnHost calls turn in the check phase, after ticks and promise jobs', async () => {
  const { host, log } = attached(TurnHost);
  host.schedule();
  process.nextTick(() => log.push('tick'));
  Promise.resolve().then(() => log.push('job'));
  await new Promise(setImmediate);
  assert.deepEqual(log.sort(), ['job', 'tick', 'turn'].sort());
  assert.equal(log.length, 3);
});

test('MicrotaskHost calls turn when the promise jobs of the tick are done', async () => {
  const { host, log } = attached(MicrotaskHost);
  host.schedule();
  let chain = Promise.resolve();
  for (let i = 0; i < 5; i++) chain = chain.then(() => log.push(i));
  setImmediate(() => log.push('immediate'));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.deepEqual(log, [0, 1, 2, 3, 4, 'turn', 'immediate']);
});

for (const Host of [TurnHost, MicrotaskHost]) {
  test(`${Host.name} reads the clock once per turn, and anew in the next`, async () => {
    const { host } = attached(Host);
    host.schedule();
    const first = host.now();
    spin();
    assert.equal(host.now(), first);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    assert.ok(host.now() > first);
    const unscheduled = host.now();
    spin();
    assert.ok(host.now() > unscheduled, 'nothing is on its way: each question reads the clock');
  });

  test(`${Host.name} has one timer: the last one that was asked for`, async () => {
    const { host, log } = attached(Host);
    host.arm(host.now() + 60_000);
    host.arm(host.now() + 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(log, ['hold ended']);
  });

  test(`${Host.name} takes a timer back`, async () => {
    const { host, log } = attached(Host);
    host.arm(host.now() + 1);
    host.arm(null);
    await new Promise((resolve) => setTimeout(resolve, 10));
    assert.deepEqual(log, []);
  });

  test(`${Host.name} says how busy the loop is, from 0 to 1`, () => {
    const { host } = attached(Host);
    const utilization = host.utilization(host.now());
    assert.ok(utilization >= 0 && utilization <= 1, `${utilization}`);
  });
}

function spin() {
  const start = performance.now();
  while (performance.now() === start);
}
