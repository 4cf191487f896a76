/** Bad options of a fleet: refused with a message that helps, before anything is connected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { natsRooms } from '@millrace/nats/rooms';
import { Rooms } from 'millrace/ws';

const broker = 'nats://127.0.0.1:1';
const bad = [
  [{ broker: 1 }, "'broker' is 1; it must be a URL"],
  [{ broker: 'http://x' }, "'servers'.*http://x"],
  [{ broker: { servers: broker, namespace: 'a.b' } }, "'namespace'.*a\\.b"],
  [{ broker: { servers: broker, required: true } }, "unknown option 'required'"],
  [{ broker, durable: 'yes' }, "'durable'.*yes.*a function"],
  [{ broker, required: 1 }, "'required'.*1.*true or false"],
  [{ broker, heartbeat: 99 }, "'heartbeat'.*99.*from 100 to 60000"],
  [{ broker, heartbeat: '1s' }, "'heartbeat'.*1s"],
  [{ broker, stream: { maxage: 1 } }, "'stream.maxage'.*known are maxAge, maxBytes, replicas"],
  [{ broker, stream: { maxAge: 10 } }, "'stream.maxAge'.*10.*from 1000"],
  [{ broker, stream: { maxBytes: 1 } }, "'stream.maxBytes'"],
  [{ broker, stream: { replicas: 6 } }, "'stream.replicas'.*from 1 to 5"],
  [{ broker, stream: null }, "'stream' is null; it must be an object"],
  [{ broker, onPresence: () => {} }, "natsRooms\\(\\): unknown option 'onPresence'"],
  [{ durable: true }, "'broker' is undefined; it must be a URL"],
];

for (const [options, message] of bad) {
  test(`${JSON.stringify(options)} is refused`, () => {
    const expected = { code: 'MILLRACE_E_INVALID_OPTION', message: new RegExp(message) };
    assert.throws(() => natsRooms(options), expected);
  });
}

test('undefined counts as not given', () => {
  const rooms = new Rooms({ across: undefined, onPresence: undefined });
  assert.equal(rooms.stats().across, null);
  assert.throws(() => rooms.set({ across: natsRooms({ broker }) }), /'across'/);
});

for (const [options, message] of [
  [{ broker }, /^Rooms: unknown option 'broker'/],
  [{ durable: true }, /unknown option 'durable'/],
  [{ across: broker }, /'across'.*nats:.*of natsRooms\(\)/],
  [{ across: null }, /'across'.*null/],
  [{ onPresence: 'log' }, /'onPresence'.*a function/],
]) {
  test(`Rooms refuses ${JSON.stringify(options)}`, () => {
    assert.throws(() => new Rooms(options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  });
}
