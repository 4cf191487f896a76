// Who waits: classes in order, fair shares of time among routes, and the work ahead of a request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { Waiting } from '../../dist/waiting.js';
import { BareTicket, classes, routeOf } from './tickets.js';

const { high, normal, low } = classes;

function pushAll(waiting, route, cls, ...names) {
  return names.map((name) => {
    const ticket = new BareTicket(route, cls, name);
    waiting.push(ticket);
    return ticket;
  });
}

function takeAll(waiting) {
  const names = [];
  for (let ticket = waiting.take(false); ticket !== null; ticket = waiting.take(false)) {
    names.push(ticket.name);
  }
  return names;
}

test('a class is served before those below it, each in order of arrival', () => {
  const waiting = new Waiting();
  const route = routeOf('GET /', 1);
  pushAll(waiting, route, low, 'l1');
  pushAll(waiting, route, normal, 'n1', 'n2');
  pushAll(waiting, route, high, 'h1', 'h2');
  pushAll(waiting, route, low, 'l2');
  assert.equal(waiting.size, 6);
  assert.deepEqual(takeAll(waiting), ['h1', 'h2', 'n1', 'n2', 'l1', 'l2']);
  assert.equal(waiting.size, 0);
  assert.equal(waiting.take(false), null);
});

test('routes of a class share time, not requests', () => {
  const waiting = new Waiting();
  const slow = routeOf('GET /slow', 10);
  const quick = routeOf('GET /quick', 1);
  pushAll(waiting, slow, normal, 's1', 's2', 's3');
  pushAll(waiting, quick, normal, ...Array.from({ length: 20 }, (_, i) => `q${i}`));
  const order = takeAll(waiting);
  const before = (name) => order.slice(0, order.indexOf(name)).filter((n) => n.startsWith('q'));
  // For 10 ms of the slow route ten quick requests of 1 ms are due.
  assert.equal(before('s2').length, 10);
  assert.equal(before('s3').length, 20);
});

test('a route that had nothing to do has no claim on the past', () => {
  const waiting = new Waiting();
  const a = routeOf('GET /a', 1);
  const b = routeOf('GET /b', 1);
  const names = Array.from({ length: 10 }, (_, i) => `a${i}`);
  pushAll(waiting, a, normal, ...names);
  for (let i = 0; i < 5; i++) waiting.take(false);
  pushAll(waiting, b, normal, 'b0', 'b1', 'b2');
  const order = takeAll(waiting);
  assert.notDeepEqual(order.slice(0, 3), ['b0', 'b1', 'b2'], 'it would have taken all at once');
  assert.ok(order.indexOf('b2') < order.length - 1, 'and it is not put last either');
});

test('a slow route with one request at a time does not get every other turn', () => {
  const waiting = new Waiting();
  const slow = routeOf('GET /slow', 50);
  const quick = routeOf('GET /quick', 1);
  pushAll(waiting, quick, normal, ...Array.from({ length: 120 }, (_, i) => `q${i}`));
  pushAll(waiting, slow, normal, 's');
  const order = [];
  for (let i = 0; i < 100; i++) {
    const { name } = waiting.take(false);
    order.push(name);
    // Its client comes again as soon as it is answered.
    if (name === 's') pushAll(waiting, slow, normal, 's');
  }
  assert.equal(order.filter((name) => name === 's').length, 2);
});

test('with the gate shut only routes that answer at once are taken', () => {
  const waiting = new Waiting();
  const later = routeOf('GET /later', 1, { isAsync: true });
  const now = routeOf('GET /now', 1);
  pushAll(waiting, later, high, 'later');
  assert.equal(waiting.hasSync, false);
  assert.equal(waiting.take(true), null);
  pushAll(waiting, now, low, 'now');
  assert.equal(waiting.hasSync, true);
  assert.equal(waiting.take(true).name, 'now');
  assert.equal(waiting.take(true), null);
  assert.equal(waiting.take(false).name, 'later');
});

test('any ticket can be taken out, and its route with the last of it', () => {
  const waiting = new Waiting();
  const route = routeOf('GET /', 2);
  const [first, second, third] = pushAll(waiting, route, normal, '1', '2', '3');
  waiting.remove(second);
  assert.equal(waiting.workBefore(normal, route, 0, 0), 4);
  waiting.remove(first);
  waiting.remove(third);
  assert.equal(waiting.size, 0);
  assert.equal(waiting.workBefore(low, route, 0, 0), 0);
});

test('work ahead is all of the classes above, and of its own class what fair shares give the others first', () => {
  const waiting = new Waiting();
  const slow = routeOf('GET /slow', 50);
  const quick = routeOf('GET /quick', 1);
  pushAll(waiting, slow, high, 'h');
  pushAll(waiting, slow, normal, 's1', 's2', 's3', 's4');
  pushAll(waiting, quick, normal, 'q1', 'q2');
  pushAll(waiting, slow, low, 'l');
  // 50 above; two of its own; of the slow route no more than this one will have been given, 3 ms.
  assert.equal(waiting.workBefore(normal, quick, 0, 0), 50 + 2 + 3);
  // All of the quick route, for this one is due later than either of them.
  assert.equal(waiting.workBefore(normal, slow, 0, 0), 50 + 200 + 2);
  assert.equal(waiting.workBefore(high, slow, 0, 0), 50);
  assert.equal(waiting.workBefore(low, null, 0, 0), 50 + 200 + 2 + 50);
  // What each request costs beside its handler.
  assert.equal(waiting.workBefore(high, slow, 1, 0), 51);
});

test('work of async routes counts what they do after they have returned', () => {
  const waiting = new Waiting();
  const route = routeOf('GET /', 5, { isAsync: true });
  pushAll(waiting, route, normal, '1', '2');
  assert.equal(waiting.workBefore(normal, route, 0, 20), 50);
});

test('the newest of the most work, from the lowest class, gives way', () => {
  const waiting = new Waiting();
  const slow = routeOf('GET /slow', 50);
  const quick = routeOf('GET /quick', 1);
  pushAll(waiting, quick, low, 'q1', 'q2', 'q3');
  pushAll(waiting, slow, low, 's1', 's2');
  pushAll(waiting, slow, normal, 'n');
  assert.equal(waiting.newestOfMostWork(low).name, 's2');
  assert.equal(waiting.newestBelow(high).name, 's2');
  assert.equal(waiting.newestBelow(normal).name, 's2');
  assert.equal(waiting.newestBelow(low), null);
  assert.equal(waiting.newestOfMostWork(high), null);
});

test('nothing is lost, doubled, or out of order in its route', async (t) => {
  for (const seed of seeds(3)) await t.test(`seed ${seed}`, () => randomly(seed));
});

function randomly(seed) {
  const random = randomNumbers(seed);
  const waiting = new Waiting();
  const routes = [1, 3, 20, 0.1].map((cost, i) => routeOf(`GET /${i}`, cost, { isAsync: i === 2 }));
  const inside = new Set();
  const lastTaken = new Map();
  let next = 0;
  for (let step = 0; step < 20_000; step++) {
    const what = random(10);
    if (what < 5) {
      const ticket = new BareTicket(routes[random(4)], random(3), next++);
      waiting.push(ticket);
      inside.add(ticket);
    } else if (what < 9) {
      const onlySync = random(5) === 0;
      const ticket = waiting.take(onlySync);
      if (ticket === null) {
        assert.ok(onlySync || inside.size === 0, 'nothing was taken though something waits');
        continue;
      }
      assert.ok(inside.delete(ticket));
      const lane = `${ticket.cls} ${ticket.route.name}`;
      assert.ok((lastTaken.get(lane) ?? -1) < ticket.name, `order in ${lane}`);
      lastTaken.set(lane, ticket.name);
      for (const other of inside) {
        assert.ok(
          other.cls >= ticket.cls || (onlySync && other.route.isAsync),
          'one of a class above was left',
        );
      }
    } else if (inside.size > 0) {
      const ticket = [...inside][random(inside.size)];
      waiting.remove(ticket);
      inside.delete(ticket);
    }
    assert.equal(waiting.size, inside.size);
  }
  const left = new Set();
  for (let ticket = waiting.take(false); ticket !== null; ticket = waiting.take(false)) {
    left.add(ticket);
  }
  assert.deepEqual(left, inside);
}
