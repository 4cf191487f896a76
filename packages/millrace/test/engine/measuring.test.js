// Calls of an engine to its host: clock readings, busy time and timers, on a host that counts them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../dist/engine/engine.js';

function engineOf(options) {
  const calls = { clock: 0, utilization: 0, busy: 0 };
  const left = [];
  const host = {
    time: 0,
    armed: null,
    holdCost: 0.05,
    now: () => host.time,
    tick: () => ({ time: host.time }),
    schedule: () => {},
    arm: (deadline) => {
      host.armed = deadline;
    },
    clock: () => {
      calls.clock++;
      return host.time;
    },
    utilization: () => {
      calls.utilization++;
      return 0;
    },
    busy: () => {
      calls.busy++;
      return 0;
    },
  };
  const deliver = ({ trigger, events }) => {
    left.push([trigger, ...events.map((event) => event.data)]);
    return true;
  };
  const engine = new Engine(host, { deliver }, options);
  const push = (...all) => {
    for (const data of all) engine.push(engine.entry('x'), data, -1, 0, null);
  };
  return { calls, left, host, engine, push };
}

test('a batch of few events reads no clock where no delay is allowed', () => {
  const { calls, engine, push } = engineOf({ maxBatchTime: 5 });
  for (let i = 0; i < 5; i++) {
    push(1, 2, 3, 4, 5, 6, 7);
    engine.turn();
  }
  assert.deepEqual(calls, { clock: 0, utilization: 0, busy: 0 });
  push(1, 2, 3, 4, 5, 6, 7, 8);
  engine.turn();
  assert.deepEqual(calls, { clock: 2, utilization: 0, busy: 0 });
});

test('a batch that meets a limit of few events reads the clock', () => {
  const { calls, host, engine, push } = engineOf({ maxBatchTime: 5 });
  const { clock } = host;
  host.clock = () => {
    // Each batch seems to take 10 ms.
    host.time += 10;
    return clock();
  };
  for (let i = 0; i < 2; i++) {
    push(1, 2, 3, 4, 5, 6, 7, 8);
    engine.turn();
  }
  assert.equal(engine.stats().policy.limit, 4);
  push(1, 2, 3);
  engine.turn();
  assert.equal(calls.clock, 4);
  push(1, 2, 3, 4);
  engine.turn();
  assert.equal(calls.clock, 6);
});

for (const options of [
  {},
  { policy: 'fixed', maxDelay: 0, maxBatchTime: 5 },
  { policy: 'fixed', maxDelay: 5, maxBatchTime: 5 },
  { policy: 'direct', maxDelay: 5, maxBatchTime: 5 },
]) {
  test(`with ${JSON.stringify(options)} nothing is measured`, () => {
    const { calls, engine, push, left, host } = engineOf(options);
    push(1, 2, 3, 4, 5, 6, 7, 8);
    engine.turn();
    host.time += 5;
    engine.holdEnded();
    assert.ok(left.length > 0);
    assert.deepEqual(calls, { clock: 0, utilization: 0, busy: 0 });
  });
}

test('the loop is asked how busy it was when a window begins and ends, and not for each batch', () => {
  const { calls, engine, host, push } = engineOf({ maxDelay: 5 });
  engine.give({ batchCost: 1, rate: 1, total: 1 });
  for (let i = 0; i < 40; i++) {
    push(i);
    engine.turn();
    host.time++;
  }
  assert.equal(calls.busy, 1);
});

for (const wrong of [-1e6, 3, Number.NaN]) {
  test(`a held batch leaves when the clock jumps to ${wrong}`, () => {
    const { engine, host, push, left } = engineOf({ policy: 'fixed', maxDelay: 10 });
    host.time = 1e6;
    push('a');
    engine.turn();
    assert.equal(host.armed, 1e6 + 10);
    host.time = wrong;
    engine.holdEnded();
    assert.deepEqual(left, [['delay', 'a']]);
  });
}

test('a batch that a clock going back makes endless counts for no cost', () => {
  const { engine, host, push } = engineOf({ maxDelay: 10 });
  const times = [100, 50, 100, Number.NaN, 100, 101];
  host.clock = () => times.shift();
  for (let i = 0; i < 3; i++) {
    push(i);
    engine.turn();
  }
  assert.equal(engine.estimate().batchCost, 1);
});

test('stats say what the policy goes by, and why it does not hold', () => {
  const policyOf = (options, given) => {
    const { engine, push } = engineOf(options);
    if (given) {
      engine.give(given);
      push(1);
      engine.turn();
    }
    return engine.stats().policy;
  };
  const busy = { batchCost: 0.45, rate: 1, total: 1, utilization: 0 };
  assert.equal(policyOf({}).why, 'no delay allowed');
  assert.equal(policyOf({ policy: 'direct', maxDelay: 5 }).why, 'no delay allowed');
  assert.equal(policyOf({ maxDelay: 20 }).why, 'not asked yet');
  assert.equal(policyOf({ maxDelay: 20 }, {}).why, 'nothing to save');
  assert.equal(policyOf({ maxDelay: 20 }, { ...busy, total: 0 }).why, 'nothing to save');
  assert.equal(policyOf({ maxDelay: 20, minSaving: 1 }, busy).why, 'saving is below the price');
  assert.equal(policyOf({ maxDelay: 20 }, busy).why, 'comparison window');
  const off = { ...busy, saving: 0 };
  assert.equal(policyOf({ maxDelay: 20 }, off).why, 'no saving measured');
  const slow = { ...busy, slowdown: 0.5 };
  assert.equal(policyOf({ maxDelay: 20 }, slow).why, 'slows its senders down');
  assert.deepEqual(policyOf({ maxDelay: 20, hold: 'always' }, busy), {
    ...{ rate: 1, total: Math.LN2 / 100, batchCost: 0, eventCost: 0, holdCost: 0.05 },
    ...{ utilization: 0, hold: 9, limit: null, saving: null, why: null },
  });
  assert.equal(policyOf({ policy: 'fixed' }, busy).hold, 50);
  assert.equal(policyOf({ policy: 'fixed' }, busy).why, null);
});
