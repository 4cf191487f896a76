/**
 * Arm of one round: `node arm.js SUBJECT ADDON PLAN` sends events per second, from the start of the threads to the last
 * event, and what was wrong, if anything. Every event is checked: each thread's come once and in its order.
 */
import { createRequire } from 'node:module';
import { api } from 'millrace/threads';

const [subject, path, plan] = process.argv.slice(2);
const { threads, each, burst, atOnce } = JSON.parse(plan);
const addon = createRequire(import.meta.url)(path);

async function run(count) {
  const next = new Array(threads).fill(0);
  let wrong = null;
  let left = threads * count;
  let handled;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });

  function check(thread, number) {
    if (next[thread] !== number) wrong ??= `thread ${thread}: ${number} came, not ${next[thread]}`;
    next[thread] = number + 1;
  }

  /** Tells a thread that waits for the end of its burst. */
  function done(events) {
    left -= events;
    if (burst > 0) handled[0] = next[0];
    if (left === 0) finish();
  }

  let words;
  const subjects = {
    millrace(buffer, first, events) {
      words ??= new Uint32Array(buffer);
      const end = 2 * (first + events);
      for (let at = 2 * first; at < end; at += 2) check(words[at + 1], words[at]);
      done(events);
    },
    'threadsafe-function'(thread, number) {
      check(thread, number);
      done(1);
    },
  };

  const functions = subject === 'millrace' ? api() : null;
  const start = performance.now();
  handled = new Uint32Array(
    addon.start(functions, subjects[subject], threads, count, burst, atOnce),
  );
  await finished;
  const ms = performance.now() - start;
  addon.stop(handled.buffer);
  if (next.some((number) => number !== count)) wrong ??= `the threads' events were ${next}`;
  return { events_per_s: (threads * count * 1000) / ms, wrong };
}

await run(each / 10);
process.send(await run(each));
process.disconnect();
