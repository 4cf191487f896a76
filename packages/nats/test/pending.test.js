// How much may be under way to the broker, and how it is found that it has arrived.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';
import { proxy } from './proxy.js';

const skip = unable;

async function link(t, options) {
  const made = new Link(patient(options), 'test');
  t.after(() => made.close());
  return await made.ready();
}

test('a small maxPending is asked about too: sending goes on', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const made = await link(t, { servers: url, maxPending: 65_536 });
  for (let sent = 0; sent < 300; ) {
    if (made.publish('x', Buffer.alloc(1000))) sent++;
    else await sleep(1);
  }
  assert.equal(made.stats().sent, 300);
});

test('a message above maxPending leaves when nothing else is under way', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const made = await link(t, { servers: url, maxPending: 65_536 });
  // Too little to be asked about by itself.
  made.publish('x', Buffer.alloc(1000));
  while (!made.publish('x', Buffer.alloc(100_000))) await sleep(1);
  assert.equal(made.publish('x', Buffer.alloc(1)), false);
});

test('close() ends the wait of a flush', { skip }, async (t) => {
  const server = await natsServer(t);
  const between = await proxy(t, server.port);
  const made = await link(t, between.url);
  between.blackhole();
  const flushed = assert.rejects(made.flush(), { code: 'MILLRACE_E_CLOSED' });
  await made.close();
  await flushed;
});

test('headers count towards the limit of the broker', { skip }, async (t) => {
  const { url } = await natsServer(t, { config: 'max_payload: 2000' });
  const made = await link(t, url);
  const { headers } = await import('@nats-io/transport-node');
  const long = headers();
  long.set('long', 'x'.repeat(100));
  assert.throws(() => made.publish('x', Buffer.alloc(1950), { headers: long }), {
    code: 'MILLRACE_E_TOO_LARGE',
    message: /1950 bytes and its headers are above the broker's limit of 2000/,
  });
  assert.equal(made.stats().sent, 0);
});
