/** Tasks on the workers, the same for every subject. The environment sets the amount of work. */
import { threadId } from 'node:worker_threads';
import { work } from '../../guard/work.js';

const [short, long] = [process.env.POOL_SHORT_STEPS, process.env.POOL_LONG_STEPS].map(Number);

export const noop = (number) => number + 1;

export const spin = (number) => work(short) + number;

export const spinLong = (number) => work(long) + number;

/** Returns the thread's id; busy for long enough that a second thread gets a task too. */
export const who = (steps) => {
  work(steps);
  return threadId;
};

export const echo = (bytes) => {
  bytes[0]++;
  return bytes;
};

export { fibonacci } from '../fibonacci.js';
