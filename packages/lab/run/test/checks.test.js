import assert from 'node:assert/strict';
import test from 'node:test';
import { differences, faultsOf } from '../checks.js';
import { goodRun } from './support.js';

test('a run that is as it has to be has no fault', () => {
  assert.deepEqual(faultsOf(goodRun()), []);
});

test('whatever is not as it has to be is named with its count', () => {
  const cases = [
    [{ report: { lost: 3 } }, 'lost: 3, expected 0'],
    [{ report: { duplicated: 1 } }, 'duplicated: 1, expected 0'],
    [{ report: { reordered: 2 } }, 'reordered: 2, expected 0'],
    [{ report: { corrupt: 1 } }, 'corrupt: 1, expected 0'],
    [{ report: { unsent: 4 } }, 'messages never sent: 4, expected 0'],
    [{ report: { refused: 5 } }, 'messages refused: 5, expected 0'],
    [{ report: { closed_early: 1 } }, 'connections closed by the server: 1, expected 0'],
    [{ report: { delivered: 4999 } }, 'messages delivered: 4999, expected 5000'],
    [{ report: { acks: 99 } }, 'messages acknowledged: 99, expected 100'],
    [{ report: { partial: true } }, 'the load was cut short'],
    [{ stats: { policy: 'fixed' } }, 'policy of the server: fixed, expected direct'],
    [{ stats: { messages: 98 } }, 'messages taken by the server: 98, expected 100'],
    [{ stats: { insert_items: 97 } }, 'messages saved: 97, expected 100'],
  ];
  for (const [change, fault] of cases) assert.deepEqual(faultsOf(goodRun(change)), [fault]);
});

test('a load that sent nothing proves nothing', () => {
  const report = { sent: 0, acks: 0, expected: 0, delivered: 0 };
  const run = goodRun({ report, stats: { messages: 0, insert_items: 0 } });
  assert.deepEqual(faultsOf(run), ['nothing was sent']);
});

test('the first fault is quoted', () => {
  const run = goodRun({ report: { lost: 1, first_fault: 'client 3 misses 7 of sender 1' } });
  assert.deepEqual(faultsOf(run), [
    'lost: 1, expected 0',
    'the first fault: client 3 misses 7 of sender 1',
  ]);
});

test('runs of the same work do not differ, also when the last message falls due at the end', () => {
  const direct = goodRun();
  const adaptive = goodRun({
    policy: 'adaptive',
    report: { scheduled: 101, sent: 101, expected: 5050, delivered: 5050, bytes: 511_000 },
  });
  assert.deepEqual(differences(direct, adaptive), []);
});

test('in what the work differs is named with both values', () => {
  const cases = [
    [{ seed: 2 }, 'seed: 1 with direct, 2 with adaptive'],
    [{ scheduled: 120 }, 'messages due: 100 with direct, 120 with adaptive'],
    [{ expected: 4000 }, 'deliveries per message: 50 with direct, 40 with adaptive'],
    [{ bytes: 255_000 }, 'bytes per frame: 100 with direct, 50 with adaptive'],
  ];
  for (const [report, difference] of cases) {
    assert.deepEqual(differences(goodRun(), goodRun({ policy: 'adaptive', report })), [difference]);
  }
});
