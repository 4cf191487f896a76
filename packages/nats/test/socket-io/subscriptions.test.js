/** How long a room is heard after its last member has left, by a clock of the test. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

// Before anything takes the timers as they are.
mock.timers.enable({ apis: ['setTimeout'] });
const { Subscriptions } = await import('../../dist/socket-io/subjects.js');

/** What is used of a connection to the broker. */
function subjects(lingerMs) {
  const heard = new Set();
  const link = {
    node: 'node',
    subject: (...parts) => parts.join('.'),
    subscribe(subject) {
      heard.add(subject);
      return () => heard.delete(subject);
    },
  };
  const subscriptions = new Subscriptions(link, '/', {}, lingerMs, () => {});
  return { subscriptions, isHeard: (room) => heard.has(`socket-io./.room.${room}`), heard };
}

test('without recovery a room is heard as long as it has members', () => {
  const { subscriptions, isHeard } = subjects(0);
  subscriptions.enter('x');
  assert.ok(isHeard('x'));
  subscriptions.leave('x');
  assert.ok(!isHeard('x'));
});

test('with recovery it is heard on, counted from when the last one left', () => {
  const { subscriptions, isHeard } = subjects(1000);
  subscriptions.enter('x');
  subscriptions.leave('x');
  mock.timers.tick(900);
  subscriptions.enter('x');
  mock.timers.tick(50);
  subscriptions.leave('x');
  // The first time is over: it does not count any more.
  mock.timers.tick(900);
  assert.ok(isHeard('x'));
  mock.timers.tick(100);
  assert.ok(!isHeard('x'));
  subscriptions.enter('x');
  mock.timers.tick(5000);
  assert.ok(isHeard('x'));
});

test('more time than a timer takes is not none', () => {
  const { subscriptions, isHeard } = subjects(1e12);
  subscriptions.enter('x');
  subscriptions.leave('x');
  mock.timers.tick(1e6);
  assert.ok(isHeard('x'));
});

test('nothing is heard after close', () => {
  const { subscriptions, heard } = subjects(1000);
  for (const room of ['x', 'y']) subscriptions.enter(room);
  subscriptions.leave('y');
  subscriptions.close();
  assert.equal(heard.size, 0);
});
