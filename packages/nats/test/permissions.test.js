// What a user may not send or hear: it is said once and counted, and the rest goes on.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { bridge } from '@millrace/nats/events';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient } from './patience.js';

const skip = unable;
const may = (subject) => `authorization { users = [
  { user: all, password: p }
  { user: some, password: p, permissions: { publish: "${subject}", subscribe: ["${subject}", "_INBOX.>"] } }
] }`;

function link(t, url, user) {
  const made = new Link(patient({ servers: url, user, password: 'p' }), 'test');
  t.after(() => made.close());
  return made;
}

/** The warnings that a test brings about. */
function warnings(t) {
  const messages = [];
  const hear = ({ code, message }) => code === 'MILLRACE_E_BROKER' && messages.push(message);
  process.on('warning', hear);
  t.after(() => process.off('warning', hear));
  return messages;
}

test('a denial is warned of once for each kind, and what is permitted goes on', {
  skip,
}, async (t) => {
  const messages = warnings(t);
  const { url } = await natsServer(t, { config: may('ok.>') });
  const [all, some] = [link(t, url, 'all'), link(t, url, 'some')];
  const heard = [];
  for (const subject of ['no.1', 'no.2', 'ok.1']) {
    some.subscribe(subject, (payload) => heard.push(String(payload)));
  }
  await assert.rejects(some.hears('no.1'), {
    code: 'MILLRACE_E_BROKER',
    message:
      /does not permit this user to subscribe to "no\.1"; allow it in the permissions of the NATS server$/,
  });
  await some.hears('ok.1');
  some.publish('no.3', Buffer.from('denied'));
  await Promise.all([some.flush(), all.ready()]);
  for (const subject of ['no.1', 'ok.1']) all.publish(subject, Buffer.from(subject));
  await all.flush();
  await some.flush();
  assert.deepEqual(heard, ['ok.1']);
  const { denied, sent } = some.stats();
  assert.deepEqual(denied, { publish: 1, subscribe: 2 });
  assert.deepEqual([sent, some.state], [1, 'up']);
  assert.equal(messages.length, 2);
  assert.match(messages[1], /to publish on "no\.3"; .*\(further ones are counted in stats\(\)\)$/);
});

test('a subject permitted later is subscribed from the next reconnect on, once', {
  skip,
}, async (t) => {
  warnings(t);
  const server = await natsServer(t, { config: may('no.>') });
  const [all, some] = [link(t, server.url, 'all'), link(t, server.url, 'some')];
  const heard = [];
  some.subscribe('x', (payload) => heard.push(String(payload)));
  await assert.rejects(some.hears('x'), { code: 'MILLRACE_E_BROKER' });
  await all.ready();
  const downs = [all, some].map((each) => once(each, 'down'));
  await server.kill();
  await Promise.all(downs);
  const ups = [all, some].map((each) => once(each, 'up'));
  await server.start({ config: may('x') });
  await Promise.all(ups);
  await some.hears('x');
  all.publish('x', Buffer.from('now'));
  await all.flush();
  await some.flush();
  assert.deepEqual(heard, ['now']);
});

test('a bridge that may not hear the others says so', { skip }, async (t) => {
  warnings(t);
  const { url } = await natsServer(t, { config: may('ok.>') });
  const broker = patient({ servers: url, user: 'some', password: 'p' });
  const made = bridge(new EventEmitter(), { broker, events: ['x'] });
  t.after(() => made.close());
  await assert.rejects(made.ready(), {
    code: 'MILLRACE_E_BROKER',
    message: /subscribe to "millrace\.bridge\.events"/,
  });
});
