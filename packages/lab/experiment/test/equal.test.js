import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { differences, refusalOfRound } from '../refusal.js';
import { groupWith, runWith } from './simulation.js';

const STUDY = new URL('./data/unequal-study.json', import.meta.url);

const both = (a, b, isClosed) =>
  differences(
    runWith({ isClosed, work: [a].flat() }),
    runWith({ isClosed, role: 'treatment', work: [b].flat() }),
  ).map(({ text }) => text);
const open = (changes, of = {}) => both(groupWith(of), groupWith({ ...of, ...changes }), false);
const closed = (changes, of = {}) => both(groupWith(of), groupWith({ ...of, ...changes }), true);

test('runs of the same work do not differ', () => {
  for (const kind of [open, closed]) {
    assert.deepEqual(kind({}), []);
    assert.deepEqual(kind({ bytes: 101.5 }), [], 'one digit more');
    assert.deepEqual(kind({ bytes: 98.1 }), [], 'one digit less');
    assert.deepEqual(kind({ payload: null }), [], 'what has no fingerprint cannot be compared');
  }
});

test('a published study with answers of 9,706 bytes against 799 is refused with both figures', () => {
  const { control, treatment } = JSON.parse(readFileSync(STUDY, 'utf8'));
  const { why } = refusalOfRound([
    runWith({ ...control, arm: 'default' }),
    runWith({ ...treatment, role: 'treatment', arm: 'batching' }),
  ]);
  assert.equal(why, "bytes per answer of 'GET /': 9,706 in default, 799 in batching");
});

test('a difference is named with what both arms did', () => {
  assert.deepEqual(open({ bytes: 120 }), ["bytes per answer of 'one': 100 in slow, 120 in fast"]);
  assert.deepEqual(closed({ bytes: 97 }), ["bytes per answer of 'one': 100 in slow, 97 in fast"]);
  assert.deepEqual(open({ payload: 'bb' }), ["payload of 'one': aa in slow, bb in fast"]);
  assert.deepEqual(closed({ payload: 'bb' }), ["payload of 'one': aa in slow, bb in fast"]);
  assert.deepEqual(open({ name: 'two' }), ['requests: one in slow, two in fast']);
  assert.deepEqual(both([], groupWith(), true), ['requests: none in slow, one in fast']);
});

test('open loop: number, times and status codes are the same', () => {
  assert.deepEqual(open({ answers: 101, status: { 200: 101 } }), [
    "number of 'one': 100 in slow, 101 in fast",
    "status codes of 'one': 200 (100) in slow, 200 (101) in fast",
  ]);
  assert.deepEqual(open({ dueTimes: '7 ms' }, { dueTimes: '0 ms' }), [
    "times due of 'one': 0 ms in slow, 7 ms in fast",
  ]);
  assert.deepEqual(open({ status: { 200: 99, 201: 1 } }), [
    "status codes of 'one': 200 (100) in slow, 200 (99), 201 (1) in fast",
  ]);
});

test('closed loop: a faster server answers more, in the same mix of paths', () => {
  assert.deepEqual(closed({ answers: 1000, status: { 200: 1000 } }), []);
  const mix = (one, two) => [
    groupWith({ answers: one, status: { 200: one } }),
    groupWith({ name: 'two', answers: two, status: { 200: two } }),
  ];
  assert.deepEqual(both(mix(50, 50), mix(519, 481), true), []);
  assert.deepEqual(both(mix(50, 50), mix(525, 475), true), [
    "share of answers of 'one': 50 % in slow, 52.5 % in fast",
    "share of answers of 'two': 50 % in slow, 47.5 % in fast",
  ]);
  assert.deepEqual(both(mix(0, 0), mix(5, 5), true), ['answers: 0 in slow, 10 in fast']);
});

test('closed loop: half a point of the answers may have another status', () => {
  const some = (bad) => ({ answers: 1000, status: { 200: 1000 - bad, 503: bad } });
  assert.deepEqual(closed(some(5)), []);
  assert.deepEqual(closed(some(6)), [
    "share of status 200 of 'one': 100 % in slow, 99.4 % in fast",
    "share of status 503 of 'one': 0 % in slow, 0.6 % in fast",
  ]);
});

test('a group may allow its answers more difference in size', () => {
  assert.deepEqual(open({ bytes: 120 }, { bytesTolerance: 0.3 }), []);
  assert.equal(open({ bytes: 150 }, { bytesTolerance: 0.3 }).length, 1);
});

test('of what may fail only the number and the times are compared', () => {
  const changes = { status: { 503: 100 }, bytes: 9, payload: 'bb' };
  for (const kind of [open, closed]) {
    assert.deepEqual(kind(changes, { mayFail: true }), []);
    assert.notDeepEqual(kind(changes), []);
  }
  assert.equal(open({ answers: 50 }, { mayFail: true }).length, 1);
});

test('the twin is compared with the control too, and named so', () => {
  const refusal = refusalOfRound([
    runWith({ role: 'twin', work: [groupWith({ bytes: 9 })], case: 'a' }),
    runWith({ case: 'a' }),
    runWith({ role: 'treatment', case: 'a' }),
  ]);
  assert.equal(refusal.why, "case a: bytes per answer of 'one': 100 in slow, 9 in slow (A/A)");
});

test('bodies that vary in both are not compared, and those that vary in one differ', () => {
  const varying = { payload: null, varies: true };
  for (const kind of [open, closed]) {
    assert.deepEqual(kind({}, varying), []);
    assert.deepEqual(kind(varying), [
      "payload of 'one': always the same in slow, not always the same in fast",
    ]);
  }
});

test('a body that differs even between control and twin is reported with a remedy', () => {
  const refusal = refusalOfRound([
    runWith(),
    runWith({ role: 'twin', work: [groupWith({ payload: 'bb' })] }),
  ]);
  assert.match(refusal.why, /differs even between two runs of the control/);
  assert.match(refusal.advice, /normalize/);
});

test('processes that cannot be looked into in one arm alone are refused', () => {
  const refusal = refusalOfRound([runWith(), runWith({ role: 'treatment', unprobed: 1 })]);
  assert.match(refusal.why, /^fast: the lab could not look into 1 of its Node.js processes/);
  assert.match(refusal.advice, /NODE_OPTIONS/);
  const both = [runWith({ unprobed: 1 }), runWith({ role: 'treatment', unprobed: 2 })];
  assert.equal(refusalOfRound(both), null);
});
