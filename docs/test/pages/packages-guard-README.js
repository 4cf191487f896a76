import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

async function textOf(server) {
  if (!server.listening) await once(server, 'listening');
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  return answer.text();
}

export const checks = {
  'millraceguard-2': async ({ g, server }) => {
    assert.equal(await textOf(server), 'hello');
    assert.equal(g.stats().classes.normal.admitted, 1);
  },
  'millraceguard-3': async ({ prices }) => {
    assert.equal(await textOf(createServer(prices).listen(0)), 'prices');
    assert.equal(prices.stats().misses, 1);
  },
};
