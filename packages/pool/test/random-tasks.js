/** What tasks of the random test do. */
import { move } from '@millrace/pool';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const kinds = {
  returns: ({ n }) => n,
  moves: ({ n, buffer }) => move(new Uint8Array(buffer).fill(n)) && n,
  async waits({ n, ms }) {
    await pause(ms);
    return n;
  },
  computes({ n, ms }) {
    for (const end = performance.now() + ms; performance.now() < end; );
    return n;
  },
  throws({ n }) {
    throw Object.assign(new Error('thrown'), { code: `E_${n}` });
  },
  async rejects({ n, ms }) {
    await pause(ms);
    throw Object.assign(new Error('thrown'), { code: `E_${n}` });
  },
  'is not clonable': () => () => {},
  dies({ n }, { attempt }) {
    if (attempt < 1) process.exit(1);
    return n;
  },
  'dies later': async ({ ms }) => {
    await pause(ms);
    process.nextTick(() => {
      throw new Error('uncaught');
    });
    await new Promise(() => {});
  },
  loops() {
    for (;;);
  },
  listens({ n }, context) {
    while (!context.aborted);
    return n;
  },
  hears: ({ n }, { signal }) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve(n);
      signal.addEventListener('abort', () => resolve(n));
    }),
  'prints and returns': ({ n }) => {
    process.stdout.write('');
    return n;
  },
};

function act(task, context) {
  Atomics.add(task.runs, task.n, 1);
  return kinds[task.kind](task, context);
}

export const first = (task, context) => act(task, context);
export const second = (task, context) => act(task, context);
export const third = (task, context) => act(task, context);
