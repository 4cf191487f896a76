import assert from 'node:assert/strict';
import test from 'node:test';
import {
  cores,
  coresDuring,
  cpuS,
  failures,
  latencyMs,
  longestMs,
  peakRssMb,
  percentileMs,
  wallS,
} from '../metrics.js';

const answer = (name, latency, more) => ({ request: { name }, latencyMs: latency, ...more });

const answers = [
  ...[5, 1, 100, 3].map((ms) => answer('health', ms)),
  answer('task', 400, { sentMs: 100, endMs: 500, cpuUs: 600_000 }),
  answer('short', 20, { sentMs: 0, endMs: 20, cpuUs: 10_000 }),
];
const costs = { wallS: 2, cpuS: 3, othersS: 0, peakRssBytes: 5e6, peakThreads: 9 };
const run = { answers, costs };

test('where some have failed that may fail there is no latency, but their number', () => {
  const photo = (status) => answer('photos', 5, { request, status, error: null });
  const request = { name: 'photos', mayFail: true };
  const all = { answers: [photo(200), photo(200)] };
  assert.deepEqual([latencyMs('photos')(all), failures('photos')(all)], [5, 0]);
  const some = { answers: [photo(200), photo(502)] };
  assert.deepEqual([latencyMs('photos')(some), failures('photos')(some)], [null, 1]);
});

test('latencies are those of the requests of a name', () => {
  assert.equal(latencyMs('health')(run), 4);
  assert.equal(latencyMs('task')(run), 400);
  assert.equal(longestMs('health')(run), 100);
  assert.equal(percentileMs('health', 0.5)(run), 3);
  assert.equal(percentileMs('health', 0.99)(run), 100);
});

test('cores are CPU seconds by seconds, of a request or of all', () => {
  assert.equal(coresDuring('task')(run), 1.5);
  assert.equal(cores(run), 1.5);
  assert.equal(wallS(run), 2);
  assert.equal(cpuS(run), 3);
  assert.equal(peakRssMb(run), 5);
});

test('what was too short for the clock, or not there, cannot be told', () => {
  assert.equal(coresDuring('short')(run), null);
  assert.equal(cores({ answers, costs: { ...costs, wallS: 0.1 } }), null);
  for (const metric of [latencyMs, longestMs, coresDuring]) assert.equal(metric('none')(run), null);
  assert.equal(percentileMs('none', 0.5)(run), null);
});
