// A node with a bridge: says what its emitter emits, and emits what it is asked to. OPTIONS of the bridge, PLAIN for node:events.
import { EventEmitter } from 'node:events';
import { bridge } from '@millrace/nats/events';
import { BatchEmitter } from 'millrace';
import { patiently } from '../patience.js';
import { answer, say } from '../talk.js';

const emitter = process.env.PLAIN ? new EventEmitter() : new BatchEmitter();
const options = JSON.parse(process.env.OPTIONS);
const heard = [];
let last;
for (const name of options.events) {
  emitter.on(name, (...args) => {
    heard.push([name, ...args]);
    if (args[0] === 'last') last?.();
  });
}
const made = bridge(emitter, options);
await patiently(() => made.ready());
say('ready');
answer({
  /** Each entry is the list of arguments of an emit; `turns`: a turn of the loop after each. */
  emit: async ({ events, turns = false }) => {
    for (const event of events) {
      emitter.emit(...event);
      if (turns) await new Promise((resolve) => setImmediate(resolve));
    }
  },
  heard: () => heard.splice(0),
  /** When an event with the argument 'last' has come. */
  last: () =>
    heard.some((event) => event[1] === 'last') ||
    new Promise((resolve) => {
      last = () => resolve(true);
    }),
  stats: () => made.stats(),
  close: () => made.close(),
});
