// The gate for async handlers: pure, so time and the loop's busy share are given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gate } from '../../dist/gate.js';
import { BareTicket, classes, routeOf } from './tickets.js';

const route = routeOf('GET /', 5, { isAsync: true });
const unlimited = { initial: 8, min: 1, max: Number.POSITIVE_INFINITY };

function enter(gate, startedMs) {
  const ticket = new BareTicket(route, classes.normal, '');
  ticket.startedMs = startedMs;
  gate.enter(ticket);
  return ticket;
}

function fill(gate, startedMs = 0) {
  const tickets = [];
  while (gate.isOpen()) tickets.push(enter(gate, startedMs));
  return tickets;
}

test('a gate lets as many in as its limit, and one more for each that leaves', () => {
  const gate = new Gate(unlimited);
  const tickets = fill(gate);
  assert.equal(tickets.length, 8);
  gate.leave(tickets[3]);
  assert.equal(gate.isOpen(), true);
  enter(gate, 0);
  assert.equal(gate.isOpen(), false);
});

test('before a loop with time to spare it doubles, as long as it shuts somebody out', () => {
  const gate = new Gate(unlimited);
  fill(gate);
  gate.decide(5, 0.2, 0);
  assert.equal(gate.limit, 16);
  assert.equal(gate.isEasy(5), true);
  gate.decide(10, 0.2, 0);
  assert.equal(gate.limit, 16, 'nobody was shut out since');
  fill(gate);
  gate.decide(15, 0.2, 0);
  assert.equal(gate.limit, 32);
  assert.equal(gate.isEasy(1000), false);
});

test('when the loop has no time left the limit falls by a tenth, to the work that keeps it busy', () => {
  const gate = new Gate(unlimited);
  fill(gate);
  gate.decide(100, 1, 20);
  assert.equal(gate.limit, 7);
  for (let now = 200; now < 1900; now += 100) gate.decide(now, 1, 20);
  // Four requests of 20 ms are 75 ms of work.
  assert.equal(gate.limit, 4);
  assert.equal(gate.isOpen(), false);
});

test('work that is little is not held back: its floor is high', () => {
  const gate = new Gate({ ...unlimited, initial: 1000 });
  fill(gate);
  for (let now = 100; now < 9000; now += 100) gate.decide(now, 1, 0.2);
  assert.equal(gate.limit, 375);
});

test('a busy loop does not shut out work that is little: the limit grows to what keeps it busy', () => {
  const gate = new Gate(unlimited);
  for (let now = 100; now < 1000; now += 100) {
    fill(gate);
    gate.decide(now, 1, 0.5);
  }
  assert.equal(gate.limit, 150);
});

test('a loop that could do more lets one more in at a time', () => {
  const gate = new Gate(unlimited);
  fill(gate);
  gate.decide(100, 0.9, 20);
  assert.equal(gate.limit, 9);
  assert.equal(gate.decide(120, 0.9, 20), false);
  assert.equal(gate.limit, 9, 'not before its time');
});

test('a limit that nobody reaches is not what the next one is reckoned from', () => {
  const gate = new Gate({ ...unlimited, initial: 1000 });
  for (let i = 0; i < 20; i++) enter(gate, 0);
  gate.decide(100, 1, 20);
  assert.equal(gate.limit, 18);
});

test('bounds hold', () => {
  const gate = new Gate({ initial: 4, min: 3, max: 6 });
  fill(gate);
  assert.equal(gate.decide(100, 0.1, 1000), true);
  assert.equal(gate.limit, 6);
  assert.equal(gate.isEasy(100), false, 'who waits does not wait for it to grow');
  fill(gate);
  for (let now = 200; now < 3000; now += 100) gate.decide(now, 1, 1000);
  assert.equal(gate.limit, 3);
});

test('requests that take long make room: they wait for somebody else', () => {
  const gate = new Gate(unlimited);
  const tickets = fill(gate, 0);
  gate.decide(1000, 0.96, 20);
  assert.equal(gate.isOpen(), false);
  gate.decide(2100, 0.96, 20);
  assert.equal(gate.size, 0);
  assert.equal(gate.isOpen(), true);
  // They are over some day, and are not taken out twice.
  const newer = enter(gate, 2100);
  for (const ticket of tickets) gate.leave(ticket);
  assert.equal(gate.size, 1);
  gate.leave(newer);
  assert.equal(gate.size, 0);
});
