import { once } from 'node:events';
import { startServer } from './server.js';
import { summarize } from './summary.js';

/** So that the server always has one more to do; never so many that they are late. */
const CLIENTS = 3;
const SLOTS = 6;

/**
 * Measures what one server can do, in requests per second: at an unprotected one that is always busy. The best second counts,
 * as others on the machine can only make it less.
 */
export async function measureCapacity(iterations, generator) {
  const server = await startServer('unprotected', iterations);
  generator.drive({ port: server.port, clients: CLIENTS });
  const slots = await takeSlots(generator, SLOTS);
  generator.stop();
  await server.end();
  const rates = slots
    .slice(1)
    .map((slot, at) => summarize([slots[at], slot], { capacity: Infinity }).fresh);
  const capacity = Math.max(...rates);
  if (capacity === 0) {
    throw new Error(
      'no request was answered in time even without load; is this machine very busy?',
    );
  }
  return capacity;
}

/** The next slots of the present load. */
export async function takeSlots(generator, count) {
  const slots = [];
  while (slots.length < count) {
    const next = await Promise.race([
      once(generator, 'slot'),
      generator.exited.then((how) => {
        throw new Error(`the load generator ended with ${how}`);
      }),
    ]);
    slots.push(next[0]);
  }
  return slots;
}
