/** One connection for all that a process has at a broker, and an end for each. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test } from 'node:test';
import { bridge } from '@millrace/nats/events';
import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';

function link(t, options, area) {
  const made = new Link(patient(options), area);
  t.after(() => made.close());
  return made;
}

describe('links of a process', { skip: unable }, () => {
  test('share a connection when only their areas, namespaces and patience differ', async (t) => {
    const { url } = await natsServer(t);
    const a = link(t, url, 'a');
    await a.ready();
    const b = link(t, { servers: url, namespace: 'other', connectTimeout: 50 }, 'b');
    assert.equal(b.state, 'connecting');
    await once(b, 'up');
    assert.equal(b.publish('x', Buffer.from('of b')), true);
    assert.equal(a.stats().sent, 1);
    assert.equal(b.subject('x'), 'other.x');
    const c = link(t, { servers: url, maxPending: 2 ** 20 }, 'c');
    await c.ready();
    assert.equal(c.stats().sent, 0);
  });

  test('of one area have a connection each, and hear each other', async (t) => {
    const { url } = await natsServer(t);
    const [a, b] = [link(t, url, 'x'), link(t, url, 'x')];
    await Promise.all([a.ready(), b.ready()]);
    const heard = new Promise((resolve) => a.subscribe('x', resolve));
    await a.flush();
    b.publish('x', Buffer.from('hello'));
    assert.equal(String(await heard), 'hello');
    assert.equal(a.stats().sent, 0);
  });

  test('end by themselves: the others go on, and the last one ends the connection', async (t) => {
    const { url } = await natsServer(t);
    const [a, b, other] = [link(t, url, 'a'), link(t, url, 'b'), link(t, url, 'a')];
    await Promise.all([a, b, other].map((each) => each.ready()));
    const received = [];
    a.subscribe('x', (payload) => received.push(`a ${payload}`));
    b.subscribe('x', (payload) => received.push(`b ${payload}`));
    await b.flush();
    await a.close();
    assert.deepEqual([a.state, b.state], ['closed', 'up']);
    await assert.rejects(a.flush(), { code: 'MILLRACE_E_CLOSED' });
    assert.equal(a.publish('x', Buffer.from('late')), false);
    other.publish('x', Buffer.from('1'));
    await other.flush();
    await b.flush();
    assert.deepEqual(received, ['b 1']);
    await b.close();
    // Nobody has it any more: this one is new.
    const next = link(t, url, 'a');
    assert.equal(next.state, 'connecting');
    await next.ready();
    assert.equal(next.stats().received, 0);
  });

  test('all learn that the broker is away and back', async (t) => {
    const server = await natsServer(t);
    const links = [link(t, server.url, 'a'), link(t, server.url, 'b')];
    await Promise.all(links.map((each) => each.ready()));
    const downs = links.map((each) => once(each, 'down'));
    await server.kill();
    await Promise.all(downs);
    const ups = links.map((each) => once(each, 'up'));
    await server.start();
    await Promise.all(ups);
    assert.deepEqual(
      links.map((each) => each.stats().reconnects),
      [1, 1],
    );
  });
});

test('rooms and a bridge have one connection, and each its own end', {
  skip: unable,
}, async (t) => {
  const { url } = await natsServer(t);
  const broker = patient(url);
  const rooms = new Rooms({ across: natsRooms({ broker }) });
  const bridged = bridge(new EventEmitter(), { broker, events: ['x'] });
  t.after(() => bridged.close());
  await Promise.all([rooms.ready(), bridged.ready()]);
  const { state, ...counts } = bridged.stats().link;
  const { state: same, ...others } = rooms.stats().across.link;
  assert.deepEqual([state, same, counts], ['up', 'up', others]);
  rooms.close();
  await rooms.closed();
  assert.deepEqual([rooms.stats().across.link.state, bridged.stats().link.state], ['closed', 'up']);
});
