// A broker that has stopped answering, of which TCP says nothing: pings find it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';
import { proxy } from './proxy.js';

test('a broker that stands still is given up, and found again when it goes on', {
  skip: unable,
}, async (t) => {
  const server = await natsServer(t);
  const between = await proxy(t, server.port);
  const links = [server.url, between.url].map((url) => new Link(patient(url), 'test'));
  t.after(() => Promise.all(links.map((link) => link.close())));
  await Promise.all(links.map((link) => link.ready()));
  const downs = links.map((link) => once(link, 'down'));
  // For one it is the process, for the other the network.
  server.pause();
  between.blackhole();
  await Promise.all(downs);
  for (const link of links) assert.equal(link.publish('x', Buffer.from('lost')), false);
  const ups = links.map((link) => once(link, 'up'));
  server.resume();
  between.heal();
  await Promise.all(ups);
  await Promise.all(links.map((link) => link.flush()));
});

test('a broker that stands still does not hold up close()', { skip: unable }, async (t) => {
  const server = await natsServer(t);
  const link = await new Link(patient(server.url), 'test').ready();
  server.pause();
  link.publish('x', Buffer.from('lost'));
  await link.close();
  assert.equal(link.state, 'closed');
});
