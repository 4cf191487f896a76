import assert from 'node:assert/strict';
import test from 'node:test';
import { busyS, hostRecord } from '../host.js';

test('the record of the host says what it was measured on', () => {
  const host = hostRecord();
  assert.equal(host.node, process.version);
  assert.ok(host.cores >= 1 && host.memory_bytes > 1e6);
  assert.equal(host.load_average.length, 3);
  assert.ok([true, false, null].includes(host.is_virtual));
  for (const key of ['cpu', 'kernel', 'arch', 'v8', 'libuv'])
    assert.equal(typeof host[key], 'string');
});

test('time that the machine is busy grows with work', () => {
  const before = busyS();
  const { user } = process.cpuUsage();
  while (process.cpuUsage().user - user < 200_000);
  assert.ok(busyS() - before >= 0.1);
});
