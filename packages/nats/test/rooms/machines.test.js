/** Nodes on machines of their own, as far as this host lets the test make some: a network that is cut says nothing of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { range } from '../../../millrace/test/ws/hall.js';
import { machines } from '../namespaces.js';
import { until } from './fleet.js';

const program = new URL('programs/node.js', import.meta.url);

/** Three nodes with a member each, `0` to `2`, which all see each other. */
async function openThree(t, options) {
  const setting = await machines(t, 3, { jetstream: true });
  const nodes = setting.machines.map((machine) =>
    machine.node(program, { BROKER: machine.url, OPTIONS: JSON.stringify(options) }),
  );
  for (const [n, node] of nodes.entries()) {
    assert.equal((await node.says()).failure, null);
    await node.ask({ do: 'join', room: 'x', presence: { id: `${n}` } });
  }
  const present = async (node) => (await node.ask({ do: 'presence', room: 'x' })).length;
  for (const node of nodes) await until(async () => (await present(node)) === 3);
  for (const node of nodes) await node.ask({ do: 'changes' });
  return { ...setting, nodes, present };
}

test('a cable is pulled out and put back: durable rooms lose nothing, members leave and are back', async (t) => {
  const {
    nodes,
    machines: hosts,
    present,
  } = await openThree(t, { durable: true, heartbeat: 2000 });
  const [a, b, c] = nodes;
  hosts[2].cut();
  await a.ask({ do: 'publish', room: 'x', to: 500 });
  await a.ask({ do: 'acknowledged' });
  // It has not noticed yet, or it has: what it says waits.
  await c.ask({ do: 'publish', room: 'x', from: 10_000, to: 10_100 });
  for (const node of [a, b]) await until(async () => (await present(node)) === 2);
  await hosts[2].heal();
  await c.ask({ do: 'acknowledged' });
  const own = async (node) => (await node.ask({ do: 'received' }))[0];
  for (const node of nodes) {
    await until(async () => (await own(node)).length >= 600);
    const got = await own(node);
    assert.deepEqual(
      got.filter((n) => n < 10_000),
      range(500),
    );
    assert.deepEqual(
      got.filter((n) => n >= 10_000).map((n) => n - 10_000),
      range(100),
    );
  }
  for (const node of [a, b]) {
    await until(async () => (await present(node)) === 3);
    const changes = await node.ask({ do: 'changes' });
    const told = changes.flatMap(({ joined, left, reason }) => [
      ...left.map(({ id }) => `${reason} -${id}`),
      ...joined.map(({ id }) => `${reason} +${id}`),
    ]);
    assert.deepEqual(told, ['node -2', 'node +2']);
  }
});
