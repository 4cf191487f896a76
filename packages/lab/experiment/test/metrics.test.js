import assert from 'node:assert/strict';
import test from 'node:test';
import * as metrics from '../metrics.js';
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

test('failures that are allowed are counted, and then there is no latency', () => {
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

test('a time too short for the clock, or missing, is unknown', () => {
  assert.equal(coresDuring('short')(run), null);
  assert.equal(cores({ answers, costs: { ...costs, wallS: 0.1 } }), null);
  for (const metric of [latencyMs, longestMs, coresDuring]) assert.equal(metric('none')(run), null);
  assert.equal(percentileMs('none', 0.5)(run), null);
});

const whole = {
  values: { answers: 1000, msgs_per_s: 5, none: 0 },
  latency: { n: 9, p50: 2, p90: 4, p99: 10, p999: 20, max: 30, mean: 2.5 },
  costs: {
    ...{ wallS: 2, cpuS: 0.5, cpuUserS: 0.3, cpuSystemS: 0.2, peakRssBytes: 5e6, rssBytes: 4e6 },
    ...{ voluntarySwitches: 300, involuntarySwitches: 100, syscalls: 7000 },
  },
  probe: {
    ...{ allocatedBytes: 3e6, heapUsedBytes: 2e6, fragmentation: 0.25, gcMs: 4, utilization: 0.5 },
    loopDelayMs: { p50: 1, p99: 6, max: 9 },
    millrace: { emitter: { delivered: 7, 'refused.closed': 0 } },
  },
};

test('costs are for each of what the server did', () => {
  assert.equal(metrics.cpuUsPer()(whole), 500);
  assert.equal(metrics.systemCpuUsPer()(whole), 200);
  assert.equal(metrics.cpuUsPer('msgs_per_s')(whole), 100_000);
  assert.equal(metrics.switchesPer()(whole), 0.4);
  assert.equal(metrics.voluntarySwitchesPer()(whole), 0.3);
  assert.equal(metrics.involuntarySwitchesPer()(whole), 0.1);
  assert.equal(metrics.switchesPerS(whole), 200);
  assert.equal(metrics.syscallsPer()(whole), 7);
  assert.equal(metrics.allocatedBytesPer()(whole), 3000);
  assert.equal(metrics.gcUsPer()(whole), 4);
});

test('of nothing, or of what was not counted, there is no cost', () => {
  assert.equal(metrics.cpuUsPer('none')(whole), null);
  assert.equal(metrics.cpuUsPer('unknown')(whole), null);
  const bare = { ...whole, probe: null, latency: null, costs: { ...whole.costs, syscalls: null } };
  assert.equal(metrics.syscallsPer()(bare), null);
  const { allocatedMb, heapUsedMb, fragmentation, gcMs, utilization } = metrics;
  for (const metric of [allocatedMb, heapUsedMb, fragmentation, gcMs, utilization]) {
    assert.equal(metric(bare), null);
  }
  assert.equal(metrics.loopDelayP99Ms(bare), null);
  assert.equal(metrics.allocatedBytesPer()(bare), null);
  assert.equal(metrics.counter('emitter', 'delivered')(bare), null);
  assert.equal(metrics.latency('p99')(bare), null);
  assert.equal(metrics.latencySpread()(bare), null);
});

test('metrics of the load, the probe and Millrace', () => {
  assert.equal(metrics.value('msgs_per_s')(whole), 5);
  assert.equal(metrics.latency('p99')(whole), 10);
  assert.equal(metrics.latencySpread()(whole), 5);
  assert.equal(metrics.latencySpread('max', 'mean')(whole), 12);
  assert.equal(metrics.rssMb(whole), 4);
  assert.equal(metrics.allocatedMb(whole), 3);
  assert.equal(metrics.heapUsedMb(whole), 2);
  assert.equal(metrics.fragmentation(whole), 0.25);
  assert.equal(metrics.loopDelayP99Ms(whole), 6);
  assert.equal(metrics.loopDelayMaxMs(whole), 9);
  assert.equal(metrics.utilization(whole), 0.5);
  assert.equal(metrics.counter('emitter', 'delivered')(whole), 7);
  assert.equal(metrics.counter('emitter', 'refused.closed')(whole), 0);
  assert.equal(metrics.counter('rooms', 'sends')(whole), null);
});
