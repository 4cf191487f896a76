// Who waits: classes in order, fair shares of time among routes, and the work ahead of a request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { Cohort } from '../../dist/cohorts.js';
import { Waiting } from '../../dist/waiting.js';
import { BareTicket, classes, everyone, routeOf } from './tickets.js';

const { high, normal, low } = classes;

const of = (route, cohort = everyone) => ({ route, cohort });
const extra = (extraMs, asyncMs) => ({ extraMs, asyncMs });

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
  assert.equal(waiting.workBefore(normal, of(route), extra(0, 0)), 4);
  waiting.remove(first);
  waiting.remove(third);
  assert.equal(waiting.size, 0);
  assert.equal(waiting.workBefore(low, of(route), extra(0, 0)), 0);
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
  assert.equal(waiting.workBefore(normal, of(quick), extra(0, 0)), 50 + 2 + 3);
  // All of the quick route, for this one is due later than either of them.
  assert.equal(waiting.workBefore(normal, of(slow), extra(0, 0)), 50 + 200 + 2);
  assert.equal(waiting.workBefore(high, of(slow), extra(0, 0)), 50);
  assert.equal(waiting.workBefore(low, null, extra(0, 0)), 50 + 200 + 2 + 50);
  // What each request costs beside its handler.
  assert.equal(waiting.workBefore(high, of(slow), extra(1, 0)), 51);
});

test('work of async routes counts what they do after they have returned', () => {
  const waiting = new Waiting();
  const route = routeOf('GET /', 5, { isAsync: true });
  pushAll(waiting, route, normal, '1', '2');
  assert.equal(waiting.workBefore(normal, of(route), extra(0, 20)), 50);
});

test('the newest of the most work, from the lowest class, gives way', () => {
  const waiting = new Waiting();
  const slow = routeOf('GET /slow', 50);
  const quick = routeOf('GET /quick', 1);
  pushAll(waiting, quick, low, 'q1', 'q2', 'q3');
  pushAll(waiting, slow, low, 's1', 's2');
  pushAll(waiting, slow, normal, 'n');
  assert.equal(waiting.newestOfMostWork(low).name, 's2');
  assert.equal(waiting.givesWayTo({ cls: high, ...of(quick) }).name, 's2');
  assert.equal(waiting.givesWayTo({ cls: normal, ...of(quick) }).name, 's2');
  assert.equal(waiting.givesWayTo({ cls: low, ...of(quick) }), null);
  assert.equal(waiting.newestOfMostWork(high), null);
});

test('cohorts of a class share time, whatever the number of their requests and routes', () => {
  const waiting = new Waiting();
  const [flood, other] = ['flood', 'other'].map((name) => new Cohort(name));
  const [a, b, c] = ['a', 'b', 'c'].map((name) => routeOf(`GET /${name}`, 1));
  for (const route of [a, b, c]) {
    for (let i = 0; i < 20; i++) waiting.push(new BareTicket(route, normal, 'f', flood));
  }
  for (let i = 0; i < 10; i++) waiting.push(new BareTicket(a, normal, 'o', other));
  const first = takeAll(waiting).slice(0, 20);
  assert.equal(first.filter((name) => name === 'o').length, 10);
});

test('before a request of a cohort come its own, and of each other one as much as its share', () => {
  const waiting = new Waiting();
  const [flood, other] = ['flood', 'other'].map((name) => new Cohort(name));
  const route = routeOf('GET /', 2);
  for (let i = 0; i < 50; i++) waiting.push(new BareTicket(route, normal, 'f', flood));
  waiting.push(new BareTicket(route, normal, 'o', other));
  // 2 of its own, and 4 of the flood, which will have been given as much when its turn comes.
  assert.equal(waiting.workBefore(normal, of(route, other), extra(0, 0)), 2 + 4);
  assert.equal(waiting.workBefore(normal, of(route, flood), extra(0, 0)), 100 + 2);
  assert.equal(waiting.workBefore(normal, null, extra(0, 0)), 102);
});

test('the cohort with the most work gives way, to others of its class too', () => {
  const waiting = new Waiting();
  const [flood, other] = ['flood', 'other'].map((name) => new Cohort(name));
  const route = routeOf('GET /', 2);
  for (const name of ['f1', 'f2', 'f3']) {
    waiting.push(new BareTicket(route, normal, name, flood));
  }
  waiting.push(new BareTicket(route, normal, 'o1', other));
  const ask = (cls, cohort) => waiting.givesWayTo({ cls, ...of(route, cohort) })?.name;
  assert.equal(waiting.newestOfMostWork(normal).name, 'f3');
  assert.equal(ask(high, other), 'f3');
  assert.equal(ask(normal, other), 'f3');
  assert.equal(ask(normal, flood), undefined);
  waiting.push(new BareTicket(route, normal, 'o2', other));
  // With one more it would have as much as the flood.
  assert.equal(ask(normal, other), undefined);
});

test('nothing is lost, doubled, or out of order in its route', async (t) => {
  for (const seed of seeds(3)) await t.test(`seed ${seed}`, () => randomly(seed));
});

function randomly(seed) {
  const random = randomNumbers(seed);
  const waiting = new Waiting();
  const routes = [1, 3, 20, 0.1].map((cost, i) => routeOf(`GET /${i}`, cost, { isAsync: i === 2 }));
  const cohorts = ['a', 'b', 'c'].map((name) => new Cohort(name));
  const inside = new Set();
  const lastTaken = new Map();
  let next = 0;
  for (let step = 0; step < 20_000; step++) {
    const what = random(10);
    if (what < 5) {
      const ticket = new BareTicket(routes[random(4)], random(3), next++, cohorts[random(3)]);
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
      const lane = `${ticket.cls} ${ticket.cohort.name} ${ticket.route.name}`;
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
