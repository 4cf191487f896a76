import assert from 'node:assert/strict';
import test from 'node:test';
import { differences, faultsOf } from '../equal.js';

const request = { name: 'one', path: '/one' };
const answer = { request, dueMs: 0, status: 200, error: null, bytes: 100, hash: 'aa', json: {} };

function run(changes = {}, { side = 'control', answers } = {}) {
  return { side, arm: side, answers: answers ?? [{ ...answer, ...changes }] };
}

const other = (changes, more) => differences(run(), run(changes, { side: 'treatment', ...more }));

test('runs of the same work do not differ', () => {
  assert.deepEqual(other({}), []);
  assert.deepEqual(other({ latencyMs: 5, sentMs: 3 }), []);
  assert.deepEqual(other({ bytes: 101 }), [], 'one digit more');
});

test('a difference is named with what both arms did', () => {
  assert.deepEqual(other({ bytes: 120 }), [
    "bytes per answer of 'one': 100 in control, 120 in treatment",
  ]);
  assert.deepEqual(other({ hash: 'bb' }), [
    "payload of 'one': aa (1) in control, bb (1) in treatment",
  ]);
  assert.deepEqual(other({ status: 201 }), [
    "status codes of 'one': 200 (1) in control, 201 (1) in treatment",
  ]);
  assert.deepEqual(other({ dueMs: 7 }), [
    "times due of 'one': 0 ms (1) in control, 7 ms (1) in treatment",
  ]);
  assert.deepEqual(other({ request: { ...request, name: 'two' } }), [
    'requests: one in control, two in treatment',
  ]);
  const twice = other({}, { answers: [answer, answer] });
  assert.ok(twice.includes("number of 'one': 1 in control, 2 in treatment"), twice.join());
});

test('a request may allow its answers more difference in size', () => {
  const wide = { request: { ...request, bytesTolerance: 0.3 } };
  assert.deepEqual(differences(run(wide), run({ ...wide, bytes: 120 })), []);
  assert.equal(differences(run(wide), run({ ...wide, bytes: 150 })).length, 1);
});

test('answers that are missing, wrong or no success do not count', () => {
  const arm = { isOn: () => false };
  assert.deepEqual(faultsOf(run(), arm), []);
  const fault = (changes) => faultsOf(run(changes), arm);
  const start = "1 of 1 answers to 'one' do not count: ";
  assert.deepEqual(fault({ status: 503 }), [`${start}status 503`]);
  assert.deepEqual(fault({ status: 301 }), [`${start}status 301`]);
  assert.deepEqual(fault({ status: null, error: 'ECONNRESET' }), [`${start}ECONNRESET`]);
  assert.deepEqual(fault({ error: 'it is wrong' }), [`${start}status 200, it is wrong`]);
});

test('the feature has to be at work in the treatment, and only there', () => {
  const treatment = run({}, { side: 'treatment' });
  const [on, off] = [{ isOn: () => true }, { isOn: () => false }];
  assert.deepEqual(faultsOf(treatment, on), []);
  assert.deepEqual(faultsOf(run(), off), []);
  assert.deepEqual(faultsOf(treatment, off), ['the feature was not at work in the treatment']);
  assert.deepEqual(faultsOf(run(), on), ['the feature was at work in the control']);
});

test('a function that cannot see whether the feature is on is the mistake of the experiment', () => {
  const arm = { isOn: ({ answers }) => answers[9].json.isFast };
  assert.throws(() => faultsOf(run(), arm), { code: 'MILLRACE_LAB_E_EXPERIMENT' });
});

test('what may fail is neither a fault nor a difference, but has to be asked for', () => {
  const mayFail = { ...answer, request: { ...request, mayFail: true } };
  const failed = { ...mayFail, status: 502, bytes: 9, hash: 'bb' };
  const arm = { isOn: () => false };
  assert.deepEqual(faultsOf(run({}, { answers: [failed] }), arm), []);
  assert.equal(faultsOf(run({ status: 502 }), arm).length, 1);
  const differ = (b) => differences(run({}, { answers: [mayFail] }), run({}, { answers: b }));
  assert.deepEqual(differ([failed]), []);
  assert.deepEqual(differ([failed, failed]).length, 2);
});
