import assert from 'node:assert/strict';
import test from 'node:test';
import { loads } from '../../../packages/lab/experiment/loads/index.js';
import { leastSecondsOf, SIZES, stepsOf } from '../../../packages/lab/experiment/plan.js';
import { growth } from '../chat/growth.js';
import { CPU, MESSAGES } from '../chat/paper.js';
import { arms } from '../chat/service.js';
import { names as allNames, loadNamed } from '../lib/named.js';

const names = allNames().filter((name) => name.startsWith('chat-'));

const allowedBy = (form, key) => (form[key] ?? form[`${key}?`])[1];

test('each experiment of the chat is well-formed', async (t) => {
  assert.equal(names.length, 11);
  for (const name of names) {
    await t.test(name, async () => {
      const { control, treatments, load, cases, claims } = await loadNamed(name);
      assert.equal(control.name, 'direct');
      assert.ok(treatments.some((arm) => arm.name.startsWith('adaptive')));
      assert.ok(claims.length > 0);
      assert.ok(cases.some(({ from = 'quick' }) => from === 'quick'));
      const { form } = loads[load.kind];
      for (const at of cases) {
        for (const size of SIZES) {
          const params = { ...at, size, seed: 1 };
          for (const [key, value] of Object.entries(load)) {
            if (['kind', 'timeoutS', 'mayCrash'].includes(key)) continue;
            const settled = typeof value === 'function' ? value(params) : value;
            if (settled === undefined) continue;
            assert.ok(allowedBy(form, key)(settled), `${name}, ${at.label}: ${key} is ${settled}`);
          }
          if (load.rooms) assert.equal(load.connections(params) / load.rooms(params), 50);
        }
      }
    });
  }
});

test('what is less by a share is a ratio above 1', () => {
  assert.equal(MESSAGES.toFixed(4), '1.5882');
  assert.equal(CPU.toFixed(3), '1.576');
});

test('experiments of equal load and of requests run adaptive with budgets of 0, 5 and 50 ms', async () => {
  const budget = ({ command }) => command[command.indexOf('--max-delay') + 1];
  for (const name of ['chat-equal', 'chat-switches', 'chat-memory', 'chat-requests']) {
    const { treatments } = await loadNamed(name);
    const adaptive = treatments.filter(({ command }) => command.includes('adaptive'));
    assert.deepEqual(
      adaptive.map((arm) => [arm.name, budget(arm), arm.from ?? 'quick']),
      [
        ['adaptive', '0', 'quick'],
        ['adaptive, up to 5 ms', '5', 'quick'],
        ['adaptive, up to 50 ms', '50', 'quick'],
      ],
      name,
    );
  }
});

test('an arm is what the server says and what it has counted', () => {
  const { direct, fixed50, adaptive, adaptive5, adaptive50 } = arms();
  const nothing = {
    ...{ delivered_frames: 500, socket_writes: 500, insert_items: 10, insert_batches: 10 },
    ...{ history_requests: 20, history_queries: 20 },
  };
  const run = (policy, max_delay_ms, gathered, probe = null) => ({
    stats: { policy, max_delay_ms, ...nothing, ...gathered },
    probe,
  });
  const writes = { socket_writes: 499 };
  assert.equal(direct.isOn(run('direct', null)), false);
  assert.equal(direct.isOn(run('adaptive', 0)), true);
  const probe = { millrace: { rooms: { deliveries: 0 } } };
  assert.equal(direct.isOn(run('direct', null, {}, probe)), true);
  assert.equal(adaptive.isOn(run('adaptive', 0)), false);
  for (const gathered of [writes, { insert_batches: 9 }, { history_queries: 19 }]) {
    assert.equal(adaptive.isOn(run('adaptive', 0, gathered)), true);
    assert.equal(adaptive5.isOn(run('adaptive', 5, gathered)), true);
    assert.equal(adaptive50.isOn(run('adaptive', 50, gathered)), true);
  }
  assert.equal(adaptive.isOn(run('direct', null, writes)), false);
  assert.equal(adaptive.isOn(run('adaptive', 50, writes)), false);
  assert.equal(adaptive50.isOn(run('adaptive', 0, writes)), false);
  assert.equal(fixed50.isOn(run('adaptive', 50, writes)), false);
  assert.equal(fixed50.isOn(run('fixed', 50, writes)), true);
  assert.equal(adaptive.isOn({ stats: null, probe: null }), false);
  assert.equal(arms({ gathers: false }).adaptive.isOn(run('adaptive', 0)), true);
});

test('growth with load is told only where the intervals lie apart', () => {
  const at = (label, ahead, lo, hi, arm = 'adaptive') => ({
    ...{ case: label, arm, metric: 'cpu', ahead, lo, hi },
  });
  const said = (...figures) => growth({ figures }, 'cpu', 'CPU');
  assert.deepEqual(said(at('1', 1, 0.9, 1.1), at('2', 2, 1.5, 2.5)), [
    'CPU, adaptive, times better than the control: 1.00 at 1, 2.00 at 2; the gain grows with load.',
  ]);
  assert.match(said(at('1', 2, 1.5, 2.5), at('2', 1, 0.9, 1.1))[0], /shrinks with load/);
  assert.match(said(at('1', 1, 0.5, 2), at('2', 2, 1.5, 2.5))[0], /cannot be told/);
  assert.match(said(at('1', 1, null, null), at('2', 2, 1.5, 2.5))[0], /too few rounds/);
  assert.deepEqual(said(at('1', 1, 0.9, 1.1)), []);
  assert.deepEqual(said(at('1', null, null, null), at('2', 1, 0.9, 1.1)), []);
});

test('the published size of chat-paper fits into two and a half hours', async () => {
  const experiment = await loadNamed('chat-paper');
  const { rounds, treatments } = experiment;
  assert.equal(rounds.paper, 50);
  assert.equal(treatments.length, 2);
  // To open and close 2,000 connections takes some seconds more than the plan has for a run.
  const opening = 3 * stepsOf(experiment, {});
  assert.ok(leastSecondsOf(experiment, {}) + opening <= 2.5 * 3600);
});
