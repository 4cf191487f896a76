// What would have been shed: requests of one turn came together, and wait for one another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Observer } from '../../dist/observer.js';
import { BareTicket, classes, routeOf } from './tickets.js';

const route = routeOf('GET /', 25);
const ticket = (cls) => new BareTicket(route, cls, '');
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('requests of a turn wait for those before them, by class', async () => {
  const observer = new Observer();
  assert.equal(observer.arrived(1000, ticket(classes.normal)), 0);
  observer.ran(classes.normal, 25);
  assert.equal(observer.arrived(1025, ticket(classes.normal)), 25);
  observer.ran(classes.normal, 25);
  assert.equal(observer.arrived(1050, ticket(classes.high)), 0);
  observer.ran(classes.high, 10);
  assert.equal(observer.arrived(1060, ticket(classes.low)), 60);
  assert.equal(observer.arrived(1060, ticket(classes.exempt)), 0);
  await turn();
  // 40 ms after the first turn began, 40 of its 60 ms are done, the high one first.
  assert.equal(observer.arrived(1040, ticket(classes.low)), 20);
  await turn();
  assert.equal(observer.arrived(5000, ticket(classes.low)), 0);
});
