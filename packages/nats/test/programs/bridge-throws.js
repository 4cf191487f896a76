// A bridge whose listeners throw: those that hear others as uncaught exceptions, those of its own emit to who emits.
import { EventEmitter } from 'node:events';
import { bridge } from '@millrace/nats/events';
import { patient } from '../patience.js';
import { say } from '../talk.js';

const thrown = [];
process.on('uncaughtException', ({ message }) => thrown.push(message));
const broker = patient(process.env.BROKER);
const [a, b] = [new EventEmitter(), new EventEmitter()];
const bridges = [a, b].map((emitter) => bridge(emitter, { broker, events: ['x'] }));
await Promise.all(bridges.map((each) => each.ready()));
const got = [];
b.on('x', (n) => {
  got.push(n);
  if (n < 4) throw new Error(`of ${n}`);
});
const done = new Promise((resolve) => b.on('x', (n) => n === 4 && resolve()));
a.on('x', (n) => {
  if (n === 3) throw new Error('of 3');
});
a.emit('x', 1);
a.emit('x', 2);
let local;
try {
  a.emit('x', 3);
} catch ({ message }) {
  // What emit() throws takes the event back.
  local = message;
}
a.emit('x', 4);
await done;
await new Promise((resolve) => setImmediate(resolve));
say({ thrown, local, got });
await Promise.all(bridges.map((each) => each.close()));
