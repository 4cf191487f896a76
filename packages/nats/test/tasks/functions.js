/** Functions of the workers. What runs is counted in the file RUNS, which outlives processes. */
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

function count(what, { id, delivery }) {
  appendFileSync(process.env.RUNS, `${JSON.stringify({ what, id, delivery })}\n`);
}

export default function run(task, context) {
  count(task, context);
  return task;
}

export const double = (n) => n * 2;

export const about = (task, { id, delivery, attempt }) => ({ task, id, delivery, attempt });

/** Fails as long as it was delivered at most `times` times. */
export function fail({ times, code = 'E_MINE', message = 'not now' }, context) {
  count('fail', context);
  if (context.delivery <= times) {
    throw Object.assign(new RangeError(message, { cause: 'why' }), { code, at: new Date(0) });
  }
  return context.delivery;
}

/** Ends its process, as the kernel does where memory is short. */
export function poison(_, context) {
  count('poison', context);
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

/** Runs until the file is there. */
export async function until(file, context) {
  count(file, context);
  while (!existsSync(file) && !context.aborted) await sleep(10);
  return context.aborted ? 'aborted' : 'done';
}

export const large = (bytes) => Buffer.alloc(bytes);
export const symbol = () => () => {};
export const pause = async (ms, context) => {
  count('pause', context);
  await sleep(ms);
};

export function work(n, context) {
  count(n, context);
  const end = performance.now() + 2;
  while (performance.now() < end);
  return n;
}
