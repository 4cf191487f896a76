// Options of bridge(): what is wrong is named.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { bridge } from '@millrace/nats/events';

const broker = 'nats://127.0.0.1:1';
const bad = {
  'no emitter': [{}, { broker, events: ['x'] }, /'emitter' is/],
  'no options': [
    new EventEmitter(),
    undefined,
    /^bridge\(\): 'options' is undefined; it must be an object/,
  ],
  'no broker': [
    new EventEmitter(),
    { events: ['x'] },
    /^bridge\(\): 'broker' is undefined; it must be a URL/,
  ],
  'an unknown option': [
    new EventEmitter(),
    { broker, event: 'x' },
    /'event'.* \(is 'events' meant\?\)/,
  ],
  'no events': [new EventEmitter(), { broker, events: [] }, /'events' is an array of 0/],
  'events as text': [new EventEmitter(), { broker, events: 'x' }, /'events' is "x"/],
  'the error event': [
    new EventEmitter(),
    { broker, events: ['x', 'error'] },
    /'events\[1\]' is "error".*stay local/,
  ],
  'an event of node:events': [
    new EventEmitter(),
    { broker, events: ['newListener'] },
    /stay local/,
  ],
  'a symbol': [new EventEmitter(), { broker, events: [Symbol('x')] }, /a name of 1 to 255 bytes/],
  'an empty name': [new EventEmitter(), { broker, events: [''] }, /a name of 1 to 255 bytes/],
  'a long name': [
    new EventEmitter(),
    { broker, events: ['ä'.repeat(128)] },
    /a name of 1 to 255 bytes/,
  ],
  'half a character': [
    new EventEmitter(),
    { broker, events: ['\ud800'] },
    /a name of 1 to 255 bytes/,
  ],
  'a channel that is no text': [
    new EventEmitter(),
    { broker, events: ['x'], channel: 5 },
    /'channel' is 5/,
  ],
  'onLost that is no function': [
    new EventEmitter(),
    { broker, events: ['x'], onLost: 5 },
    /'onLost' is 5/,
  ],
  'a wait of more than a minute': [
    new EventEmitter(),
    { broker, events: ['x'], maxDelay: 60_001 },
    /'maxDelay' is 60001/,
  ],
  'a saving of more than a core': [
    new EventEmitter(),
    { broker, events: ['x'], minSaving: 2 },
    /'minSaving' is 2/,
  ],
};

for (const [what, [emitter, options, message]] of Object.entries(bad)) {
  test(`${what} is refused`, () => {
    assert.throws(() => bridge(emitter, options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  });
}

test('an event has one bridge at a time', async () => {
  const emitter = new EventEmitter();
  const first = bridge(emitter, { broker, events: ['x', 'y'] });
  assert.throws(() => bridge(emitter, { broker, channel: 'other', events: ['z', 'y'] }), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message: /'events' is "y"; it must be without a bridge yet/,
  });
  assert.throws(() => bridge(emitter, { broker: 'http://no', events: ['z'] }), /'servers'/);
  const second = bridge(emitter, { broker, channel: 'other', events: ['z'] });
  await Promise.all([first.close(), second.close()]);
});
