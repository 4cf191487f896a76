import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brokerLoad, waitMs } from '../broker.js';
import { costOf } from '../cost.js';
import { fleetOf } from '../fleet.js';
import { scenario } from '../inputs.js';
import { nodeLoad } from '../node.js';
import { profiles } from '../profiles.js';
import { sensitivity } from '../sensitivity.js';
import { turnOf } from '../turn.js';

const near = (found, expected, tolerance = 1e-6) =>
  assert.ok(Math.abs(found / expected - 1) <= tolerance, `${found}, not ${expected}`);

/** Whatever was measured last, the tests have the same costs. */
const costs = {
  ...{ headerBytes: 110, recordBytes: 8 },
  ...{ connectionKb: 15, processMb: 60, receiveUs: 12, sendUs: 4.5, deliverUs: 1, publishUs: 5 },
  ...{
    batchUs: 8,
    recordUs: 1,
    inUs: 4,
    outUs: 4,
    subscriptionBytes: 300,
    linkKb: 60,
    brokerMb: 20,
  },
};
const fleet = (given) => fleetOf(scenario({ ...costs, ...given }));

describe('a loop turn', () => {
  test('lasts its own share and the work that comes meanwhile', () => {
    near(turnOf(() => 0.6, { turnUs: 50, hold: 0 }).turn, 125e-6);
    near(turnOf(() => 0, { turnUs: 50, hold: 0 }).turn, 50e-6);
  });

  test('gets no longer than it must where longer ones are cheaper', () => {
    const { turn, busy } = turnOf((window) => Math.min(2, 1e-3 / window), { turnUs: 50, hold: 0 });
    // T - 1 ms = 50 µs.
    near(turn, 1.05e-3);
    near(busy, 1 / 1.05);
  });

  test('of a loop that is overloaded has no end', () => {
    assert.equal(turnOf(() => 1.1, { turnUs: 50, hold: 0 }).turn, Number.POSITIVE_INFINITY);
  });

  test('leaves the hold as it is where that is longer', () => {
    near(turnOf(() => 0.5, { turnUs: 50, hold: 20 }).window, 0.02);
  });
});

describe('a node and a broker by hand', () => {
  const given = {
    ...{ connections: 1000, members: [[10, 1]], rate: 1, placement: 'room', heartbeat: 0 },
    ...{ turnUs: 0.001, cores: 1, memory: 1, network: 1 },
  };
  const s = scenario({ ...costs, ...given });

  test('CPU, memory and network of a node', () => {
    const { use, cpu } = nodeLoad(s, 2);
    // 500 messages a second come, each goes out 10 times and once to the broker.
    near(cpu.messages, 500 * 12e-6);
    near(cpu.deliveries, 5000 * 5.5e-6, 1e-4);
    near(cpu.broker, 500 * 5e-6, 1e-4);
    near(use.memory, (500 * 23e3 + 60e6) / 1e9);
    near(use.network, (5000 * (102 + 66) + 500 * (110 + 108)) / 125e6, 1e-4);
    near(use.room, (10 * 12 + 100 * 5.5 + 10 * 5) / 1e6, 1e-4);
  });

  test('a broker of rooms that are at one node: it takes and hands nothing on', () => {
    const { use, rates, cpu } = brokerLoad(s, { nodes: 2, brokers: 1, window: 0 });
    near(rates.in, 1000, 1e-4);
    assert.equal(rates.out, 0);
    near(use.cpu, (1000 * 4e-6) / (4 * 0.7), 1e-4);
    assert.equal(cpu['fan-out'], 0);
  });

  test('heartbeats grow with the square of the nodes', () => {
    const one = scenario({ ...costs, ...given, rate: 0, heartbeat: 2 });
    const { rates } = brokerLoad(one, { nodes: 100, brokers: 4, window: 0 });
    near(rates.in, 100 / 2 / 4);
    near(rates.out, (100 * 99) / 2 / 4);
    near(rates.routed, (100 * 3) / 2 / 4);
  });

  test('a queue', () => {
    // 1 ms for each, half of the time busy: 0.5 ms.
    near(waitMs(0.5, 500), 0.5);
    assert.equal(waitMs(1, 500), Number.POSITIVE_INFINITY);
    assert.equal(waitMs(0, 0), 0);
  });

  test('cost', () => {
    const found = costOf(s, { machines: 2, nodes: 2, brokers: 3, window: 0, brokerBytes: 1e6 });
    near(found.machines + found.brokers, 5 * 0.17);
    near(found.egress, ((10_000 * (102 + 66) * 3600) / 1e9) * 0.05, 1e-4);
    near(found.zones, (((1000 * 218 + 1e6) * 3600) / 1e9) * 0.67 * 0.01, 1e-4);
    near(found.perMillionSent, (found.perHour / 3.6e6) * 1e6);
    near(found.perMillionDelivered * 10, found.perMillionSent);
  });
});

describe('a fleet', () => {
  test('is the smallest that keeps to the target', () => {
    const s = scenario({ ...costs, connections: 1e6 });
    const { machines, brokers, use } = fleetOf(s);
    for (const shares of Object.values(use)) {
      for (const share of Object.values(shares)) assert.ok(share <= s.target);
    }
    const fewer = nodeLoad(s, (machines - 1) * s.cores);
    assert.ok(Object.values(fewer.use).some((share) => share > s.target));
    const { window } = nodeLoad(s, machines * s.cores);
    const less = brokerLoad(s, { nodes: machines * s.cores, brokers: brokers - 1, window });
    assert.ok(Object.values(less.use).some((share) => share > s.target));
  });

  test('of more connections is never smaller, with as many cells', () => {
    for (const { given } of Object.values(profiles)) {
      let last = { machines: 0, brokers: 0, cost: { perMonth: 0 } };
      for (const connections of [1e4, 3e4, 1e5, 2e5]) {
        const found = fleet({ ...given, connections, cells: 1, brokerMost: 1000 });
        assert.equal(found.why, null);
        assert.ok(found.machines >= last.machines);
        assert.ok(found.brokers >= last.brokers);
        assert.ok(found.cost.perMonth >= last.cost.perMonth);
        last = found;
      }
    }
  });

  test('never needs less when a message costs more or less may be used', () => {
    const base = fleet({ connections: 3e6 });
    for (const dearer of [{ sendUs: 9 }, { receiveUs: 100 }, { target: 0.3 }, { rate: 0.1 }]) {
      const found = fleet({ connections: 3e6, ...dearer });
      assert.ok(found.machines > base.machines, Object.keys(dearer).join());
    }
  });

  test('is short of what its load asks for', () => {
    const of = (given) => fleet({ connections: 1e6, ...given }).bottleneck;
    assert.equal(of({ rate: 0.0001 }).node.resource, 'memory');
    assert.deepEqual([of({}).node.resource, of({}).node.of], ['cpu', 'broker']);
    assert.equal(of({ placement: 'room' }).node.of, 'deliveries');
    assert.equal(of({ bytes: 20_000 }).node.resource, 'network');
    assert.equal(of({ members: [[2, 1]], rate: 3, placement: 'room' }).node.of, 'messages');
    assert.equal(of({}).broker.of, 'fan-out');
    assert.equal(of({ placement: 'room', heartbeat: 0 }).broker.of, 'intake');
    assert.equal(of({ rate: 0.0001, brokerMemory: 0.1 }).broker.resource, 'memory');
  });

  test('gets cells where one mesh of brokers is not enough', () => {
    assert.equal(fleet({ connections: 1e5 }).cells, 1);
    const { cells, brokers } = fleet({ connections: 1e8 });
    assert.ok(cells > 1 && brokers / cells <= 64);
    const one = fleet({ connections: 1e8, cells: 1 });
    assert.equal(one.isPossible, false);
    assert.match(one.why, /however many there are|64 brokers would use/);
  });

  test('that cannot be says why', () => {
    const tooLarge = fleet({ connections: 1e6, members: [[1e6, 1]], rate: 1, placement: 'room' });
    assert.match(tooLarge.why, /^the largest room would use \d+ % of its node$/);
    const noMemory = fleet({ processMb: 1e5 });
    assert.match(noMemory.why, /^nodes would use memory \d+ % of what they have, however many/);
    assert.match(
      fleet({ connections: 60, cells: 2 }).why,
      /a cell of 30 connections has no room of 50/,
    );
  });

  test('of one connection is the least fleet', () => {
    const found = fleet({ connections: 1, members: [[1, 1]] });
    assert.deepEqual([found.machines, found.brokers, found.cells], [2, 3, 1]);
    assert.equal(fleet({ rate: 0 }).cost.perMillionSent, null);
  });
});

test('what the answer hangs on: dearer is dearer, the widest comes first', () => {
  const rows = sensitivity({ ...costs, connections: 1e6 });
  const swings = rows.map(({ swing }) => swing);
  assert.deepEqual(
    swings,
    [...swings].sort((a, b) => b - a),
  );
  const of = (name) => rows.find((row) => row.name === name);
  assert.ok(of('rate').more.cost > 1 && of('rate').less.cost < 1);
  assert.ok(of('egressPrice').swing > of('machinePrice').swing, 'traffic costs more than machines');
  assert.ok(of('members').more.servers > 1.2);
  assert.equal(of('machinePrice').more.servers, 1);
  assert.equal(of('connections'), undefined);
});

describe('bad input is named, with what is allowed', () => {
  const refused = (given, message) =>
    assert.throws(() => scenario(given), { code: 'MILLRACE_LAB_E_INVALID_OPTION', message });

  test('numbers', () => {
    refused({ rate: -1 }, /^rate is -1; allowed are numbers from 0 to 100000$/);
    refused({ connections: 1.5 }, /^connections is 1.5; allowed are whole numbers from 1 to/);
    refused({ target: Number.NaN }, /^target is NaN; allowed are numbers from 0.01 to 1$/);
    refused({ bytes: '100' }, /^bytes is "100"; allowed/);
  });

  test('names, rooms, placement, cells, brokers', () => {
    refused({ speed: 3 }, /^there is no input speed; there are connections,/);
    refused({ placement: 'near' }, /^placement is "near"; allowed are random and room$/);
    refused({ members: [[50, 0.5]] }, /^the shares of members add up to 0.5, not to 1$/);
    refused({ connections: 10 }, /^members is 50; allowed are whole numbers from 1 to 10$/);
    refused({ cells: 0 }, /^cells is 0; allowed/);
    refused({ brokerLeast: 5, brokerMost: 4 }, /^brokerLeast is 5, more than brokerMost, 4$/);
  });
});
