// A broker of several servers: when one of them ends, its connections move to another.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';

test('a link that knows one server of three finds the others when that one ends', {
  skip: unable,
}, async (t) => {
  const config = (routes) =>
    `cluster { name: fleet, listen: "127.0.0.1:-1", routes: [${routes}] }\n`;
  const first = await natsServer(t, { config: config('') });
  const route = `"nats://127.0.0.1:${first.clusterPort}"`;
  const others = [
    await natsServer(t, { config: config(route) }),
    await natsServer(t, { config: config(route) }),
  ];
  const [a, b] = [first, others[0]].map(({ url }) => new Link(patient(url), 'test'));
  t.after(() => Promise.all([a.close(), b.close()]));
  const heard = { a: [], b: [] };
  a.subscribe('x', (payload) => heard.a.push(String(payload)));
  b.subscribe('x', (payload) => heard.b.push(String(payload)));
  await Promise.all([a.ready(), b.ready()]);
  const reach = async () => {
    // What a server knows of the subscriptions at another comes later.
    for (const [from, to] of [
      [a, heard.b],
      [b, heard.a],
    ]) {
      while (!to.includes('hello')) {
        from.publish('x', Buffer.from('hello'));
        await sleep(10);
      }
      to.length = 0;
    }
  };
  await reach();
  const down = once(a, 'down');
  const up = once(a, 'up');
  await first.kill();
  await Promise.all([down, up]);
  await reach();
  assert.equal(a.stats().reconnects, 1);
  for (let i = 0; i < 100; i++) b.publish('x', Buffer.from(String(i)));
  while (!heard.a.includes('99')) await sleep(5);
  const numbers = heard.a.filter((text) => text !== 'hello');
  assert.deepEqual(
    numbers,
    Array.from({ length: 100 }, (_, i) => String(i)),
  );
});
