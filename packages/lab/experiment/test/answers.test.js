import assert from 'node:assert/strict';
import test from 'node:test';
import { faultsOf, groupsOf, hasFailed } from '../loads/outcome.js';

const request = { name: 'one', path: '/one' };
const answer = { request, dueMs: 0, status: 200, error: null, bytes: 100, hash: 'aa', json: {} };

test('answers that are missing, wrong or no success do not count', () => {
  const fault = (changes) => faultsOf([{ ...answer, ...changes }]);
  const start = "1 of 1 answers to 'one' do not count: ";
  assert.deepEqual(fault({}), []);
  assert.deepEqual(fault({ status: 503 }), [`${start}status 503`]);
  assert.deepEqual(fault({ status: 301 }), [`${start}status 301`]);
  assert.deepEqual(fault({ status: null, error: 'ECONNRESET' }), [`${start}ECONNRESET`]);
  assert.deepEqual(fault({ error: 'it is wrong' }), [`${start}status 200, it is wrong`]);
});

test('a failure that is allowed is no fault', () => {
  const failed = { ...answer, status: 502, request: { ...request, mayFail: true } };
  assert.deepEqual(faultsOf([failed]), []);
  assert.equal(hasFailed(failed), true);
  assert.equal(hasFailed({ ...failed, request }), false);
});

test('groups are by name, whatever the order of the answers', () => {
  const two = {
    ...answer,
    request: { name: 'two', bytesTolerance: 0.3 },
    status: null,
    hash: null,
  };
  const late = { ...answer, dueMs: 5, bytes: 300, status: 201 };
  const groups = groupsOf([two, late, answer]);
  assert.deepEqual(groups, groupsOf([answer, late, two]));
  assert.deepEqual(groups[0], {
    ...{ name: 'one', answers: 2, status: { 200: 1, 201: 1 }, bytes: 200 },
    ...{ payload: 'aa (2)', dueTimes: '0 ms (1), 5 ms (1)', varies: false },
  });
  assert.deepEqual(groups[1].status, { none: 1 });
  assert.equal(groups[1].bytesTolerance, 0.3);
});

test('answers to the same question that differ have no payload, unless what must be the same is said', () => {
  const other = { ...answer, hash: 'bb' };
  const [group] = groupsOf([answer, other]);
  assert.deepEqual([group.payload, group.varies], [null, true]);
  const elsewhere = { ...other, request: { ...request, path: '/two' } };
  assert.equal(groupsOf([answer, elsewhere])[0].payload, 'aa (1), bb (1)');
  const said = { ...request, payload: () => 1 };
  const chosen = [answer, other].map((each) => ({ ...each, request: said }));
  assert.equal(groupsOf(chosen)[0].payload, 'aa (1), bb (1)');
});
