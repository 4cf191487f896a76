/** How long a room is heard after its last member has left, by a clock of the test. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

// Before anything takes the timers as they are.
mock.timers.enable({ apis: ['setTimeout'] });
const { Hearing } = await import('../../../dist/ws/socket-io/fleet/hearing.js');

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
  const hearing = new Hearing(link, '/', {}, lingerMs, () => {});
  return { hearing, isHeard: (room) => heard.has(`socket-io./.room.${room}`), heard };
}

test('without recovery a room is heard as long as it has members', () => {
  const { hearing, isHeard } = subjects(0);
  hearing.enter('x');
  assert.ok(isHeard('x'));
  hearing.leave('x');
  assert.ok(!isHeard('x'));
});

test('with recovery it is heard on, counted from when the last one left', () => {
  const { hearing, isHeard } = subjects(1000);
  hearing.enter('x');
  hearing.leave('x');
  mock.timers.tick(900);
  hearing.enter('x');
  mock.timers.tick(50);
  hearing.leave('x');
  // The first time is over: it does not count any more.
  mock.timers.tick(900);
  assert.ok(isHeard('x'));
  mock.timers.tick(100);
  assert.ok(!isHeard('x'));
  hearing.enter('x');
  mock.timers.tick(5000);
  assert.ok(isHeard('x'));
});

test('more time than a timer takes is not none', () => {
  const { hearing, isHeard } = subjects(1e12);
  hearing.enter('x');
  hearing.leave('x');
  mock.timers.tick(1e6);
  assert.ok(isHeard('x'));
});

test('nothing is heard after close', () => {
  const { hearing, heard } = subjects(1000);
  for (const room of ['x', 'y']) hearing.enter(room);
  hearing.leave('y');
  hearing.close();
  assert.equal(heard.size, 0);
});
