/** A place of a cluster, whose processes are told by the test what happens to them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slot } from '../dist/slot.js';

const backoff = { respawnDelay: 1, maxRespawnDelay: 1, healthyAfter: 1000 };

/** A slot, and what it does. */
function made() {
  const state = { started: [], mayStart: true, deaths: 0, ready: [] };
  const slot = new Slot(1, backoff, {
    fork: () => {
      const process = { readyMs: 0, drain: () => {} };
      state.started.push(process);
      return process;
    },
    message: () => {},
    ready: (process) => state.ready.push(slot.current === process),
    leaving: () => {},
    gone: () => {},
    mayRespawn: () => {
      state.deaths++;
      return true;
    },
    mayStart: () => state.mayStart,
  });
  return { slot, state };
}

test('a process that ends itself before it is healthy counts as one that died', () => {
  const { slot, state } = made();
  slot.start();
  slot.draining(state.started[0]);
  // The first time it is at once.
  assert.deepEqual([state.started.length, state.deaths], [2, 1]);
  slot.draining(state.started[1]);
  assert.deepEqual([state.started.length, state.deaths, slot.current], [2, 2, null]);
  slot.close(0);
});

test('one that was healthy is replaced', () => {
  const { slot, state } = made();
  slot.start();
  state.started[0].readyMs = 1000;
  slot.draining(state.started[0]);
  assert.deepEqual([state.started.length, state.deaths], [2, 0]);
});

test('a replacement is in charge when it is ready', async () => {
  const { slot, state } = made();
  slot.start();
  const replaced = slot.replace(0);
  slot.gone(state.started[0], { readyMs: 0 });
  slot.ready(state.started[1]);
  await replaced;
  assert.deepEqual(state.ready, [true]);
});

test('in a crash loop a delay that ends starts nothing', async () => {
  const { slot, state } = made();
  slot.start();
  slot.gone(state.started[0], { readyMs: 0 });
  slot.gone(state.started[1], { readyMs: 0 });
  state.mayStart = false;
  // A later timer than that of the slot.
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(state.started.length, 2);
  state.mayStart = true;
  slot.start();
  assert.equal(state.started.length, 3);
});
