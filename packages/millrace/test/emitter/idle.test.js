// Idle means idle: a process ends by itself, and what it had accepted is delivered before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { child } from './helper.js';

const active = `process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length`;

const cases = {
  'with nothing pushed, with a held batch that was cancelled, with retained events, and after close':
    [
      `new BatchEmitter({ policy: 'fixed', retain: true });
     const held = new BatchEmitter({ policy: 'fixed', maxDelay: 60000 });
     const event = held.push('x', []);
     const retaining = new BatchEmitter({ retain: { maxAge: 2147483647 } });
     retaining.emit('x', 1);
     const closed = new BatchEmitter({ policy: 'fixed', maxDelay: 60000, retain: true });
     closed.emit('x', 1);
     closed.close();
     setImmediate(() => setImmediate(() => {
       const before = ${active};
       event.cancel();
       console.log('timers', before - ${active});
     }));
     process.on('exit', () => console.log('exit', held.queued(), retaining.stats().retained.count));`,
      ['timers 1', 'exit 0 1'],
    ],
  'with queued events, which are delivered': [
    `const e = new BatchEmitter();
     e.on('x', (n) => console.log(n));
     e.emit('x', 1);
     e.emit('x', 2);`,
    ['1', '2'],
  ],
  'with a held batch, which is delivered': [
    `const e = new BatchEmitter({ policy: 'fixed', maxDelay: 20 });
     e.on('x', (n) => console.log(n));
     e.emit('x', 1);
     process.on('exit', () => console.log('exit', e.queued()));`,
    ['1', 'exit 0'],
  ],
  "with isolation 'event' and a batch on its way, which is delivered": [
    `const e = new BatchEmitter({ isolation: 'event' });
     e.on('x', (n) => console.log(n));
     for (const n of [1, 2, 3]) e.emit('x', n);`,
    ['1', '2', '3'],
  ],
  'with a chain of more batches than a turn allows': [
    `const e = new BatchEmitter();
     let last;
     e.on('x', (n) => {
       last = n;
       if (n < 50) e.emit('x', n + 1);
     });
     e.emit('x', 1);
     process.on('exit', () => console.log(last));`,
    ['50'],
  ],
};

for (const [name, [script, expected]] of Object.entries(cases)) {
  test(`the process ends by itself ${name}`, async () => {
    const { code, killed, lines } = await child(
      `import { BatchEmitter } from 'millrace';\n${script}`,
    );
    assert.deepEqual({ code, killed, lines }, { code: 0, killed: false, lines: expected });
  });
}

test('no handle, timer or immediate is there once a batch has left', async () => {
  const { lines } = await child(`
    import { BatchEmitter } from 'millrace';
    const active = () => process.getActiveResourcesInfo().filter((name) => /Timeout|Immediate/.test(name));
    const e = new BatchEmitter({ policy: 'fixed', maxDelay: 1 });
    e.on('x', () => setImmediate(() => console.log(active().length)));
    console.log(active().length);
    e.emit('x');
    console.log(active().length);
  `);
  assert.deepEqual(lines, ['0', '1', '0']);
});
