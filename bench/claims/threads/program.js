/** Threads of an addon that have events for JavaScript: `program.js ARM JSON`, see lib/program.js. */
import { createRequire } from 'node:module';
import { build, unable } from '../../../packages/millrace/test/threads/build.js';
import { measured, print, readArguments } from '../lib/program.js';

const { arm, params } = readArguments();
const { threads, each, burst } = params;
if (unable !== null) throw new Error(`its addon cannot be built: ${unable}`);
const path = build(new URL('../../threads/addon.c', import.meta.url));
const addon = createRequire(import.meta.url)(path);
const functions = arm === 'millrace' ? (await import('millrace/threads')).api() : null;

let disordered = 0;
await run(each / 10);
const { result: calls, seconds, cpuS } = await measured(() => run(each));

const events = threads * each;
print({
  values: {
    ...{ answers: events, answers_per_s: events / seconds },
    ns_per_event: (cpuS * 1e9) / events,
    per_call: events / calls,
  },
  work: [{ name: 'event', answers: events, bytes: 8 }],
  isClosed: false,
  faults: disordered > 0 ? [`${disordered} events came out of the order of their thread`] : [],
  isRing: functions !== null,
});

/** Resolves when every event has come, with the number of calls from C that it took. */
async function run(count) {
  const next = new Array(threads).fill(0);
  let calls = 0;
  let left = threads * count;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const take = (thread, number) => {
    if (next[thread] !== number) disordered += 1;
    next[thread] = number + 1;
  };
  /** Tells a thread that waits for the end of its burst. */
  const done = (taken) => {
    calls += 1;
    left -= taken;
    if (burst > 0) handled[0] = next[0];
    if (left === 0) finish();
  };
  let words;
  const onBatch = (buffer, first, taken) => {
    words ??= new Uint32Array(buffer);
    for (let at = 2 * first; at < 2 * (first + taken); at += 2) take(words[at + 1], words[at]);
    done(taken);
  };
  const onEvent = (thread, number) => {
    take(thread, number);
    done(1);
  };
  const callback = functions === null ? onEvent : onBatch;
  const handled = new Uint32Array(addon.start(functions, callback, threads, count, burst, 1));
  await finished;
  addon.stop(handled.buffer);
  return calls;
}
