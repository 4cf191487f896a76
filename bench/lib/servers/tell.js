/** Link of a measured server with the program that measures it: it tells its port, answers, and ends with it. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const idleMs = 2000;

/** Answers by question; a module that is loaded before the server may add to it. */
export const answers = {
  /** Memory after a collection of garbage; needs --expose-gc. */
  memory() {
    globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heap: heapUsed + external };
  },
  /** Number of wake-ups of its threads in two seconds in which nothing is asked of it; once is for the end of them. */
  async wakeups() {
    const before = voluntarySwitches();
    await sleep(idleMs);
    return voluntarySwitches() - before;
  },
};

/** @param {number} port @param {() => object} stats deliveries so far, and what was written for them */
export function tell(port, stats) {
  answers.stats = stats;
  process.on('message', async (question) => process.send(await answers[question]()));
  process.on('disconnect', () => process.exit());
  process.send({ port });
}

function voluntarySwitches() {
  const counts = readdirSync('/proc/self/task').map((thread) => {
    const status = readFileSync(`/proc/self/task/${thread}/status`, 'latin1');
    return Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)[1]);
  });
  return counts.reduce((a, b) => a + b, 0);
}
