import assert from 'node:assert/strict';
import test from 'node:test';
import { cpuUs, systemWrites } from '../proc.js';
import { Window } from '../window.js';

/** A server whose counters go on at each reading: 1 s of CPU, 500 writes, 400 socket writes. */
function countingServer({ kernelCounts }) {
  let readings = 0;
  return {
    usage() {
      readings += 1;
      return { cpuUs: readings * 1e6, writes: kernelCounts ? readings * 500 : null };
    },
    get: async () => ({ socket_writes: readings * 400 }),
  };
}

async function costsOf(server) {
  const window = new Window(server);
  window.take({ phase: 'connect', deliveries: 0 });
  window.take({ phase: 'warmup', deliveries: 900 });
  window.take({ phase: 'measure', deliveries: 1000 });
  window.take({ phase: 'measure', deliveries: 3000 });
  window.take({ phase: 'drain', deliveries: 50 });
  return window.costs();
}

test('events between the warm-up and the last second of the load count', async () => {
  const costs = await costsOf(countingServer({ kernelCounts: true }));
  assert.equal(costs.cpuUsPerMessage, 2e6 / 4000);
  assert.equal(costs.writesPerMessage, 1000 / 4000);
  assert.equal(costs.writesBy, 'kernel');
});

test('without counts of writes from the kernel, those of the server are taken', async () => {
  const costs = await costsOf(countingServer({ kernelCounts: false }));
  assert.equal(costs.writesPerMessage, 800 / 4000);
  assert.equal(costs.writesBy, 'server');
});

test('the kernel counts the CPU time and the writes of a process', () => {
  const before = { cpu: process.cpuUsage(), readUs: cpuUs(process.pid) };
  const writes = systemWrites(process.pid);
  let spent = 0;
  while (spent < 50_000) spent = process.cpuUsage(before.cpu).user;
  assert.ok(cpuUs(process.pid) >= before.readUs + 30_000);
  assert.ok(writes === null || systemWrites(process.pid) >= writes);
});

test('a process that is not there has no writes to show, and no CPU time', () => {
  const nobody = 2 ** 30;
  assert.equal(systemWrites(nobody), null);
  assert.throws(() => cpuUs(nobody), { code: 'ENOENT' });
});
