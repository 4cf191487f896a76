/**
 * One arm of one round of `idle overhead`: `node overhead-arm.js PLAN` sends what a fast server does
 * and costs under as many connections as it can serve, or (`count`) what one request costs it in system
 * calls and in bytes of the heap, of a given number of requests.
 */
import { CpuClock } from '../lib/cpu.js';
import { startServer } from '../lib/load.js';
import { get, Pool } from './client.js';
import { countSyscalls } from './syscalls.js';

const { command, connections, seconds, count, syscalls } = JSON.parse(process.argv[2]);
const { pid, port, died, ask, stop } = await startServer({ command });
const hello = get('/');
const pool = new Pool(port);
let answers = 0;
/** Answered 503: a guard that has no reason to may do so all the same. */
let shed = 0;
let wrong = null;
await pool.connect(connections);

/** Each connection sends its next request when it has its answer, until `isOver`. */
function load(isOver) {
  return Promise.race([Promise.all(Array.from({ length: connections }, visitor)), died]);

  function visitor() {
    return new Promise((resolve) => {
      next();
      function next() {
        if (isOver()) return resolve();
        pool.request(hello, (status, body) => {
          if (status === 503) {
            shed++;
          } else if (status !== 200 || body !== 'hello world') {
            wrong ??= `the answer was ${status} ${body.slice(0, 60)}`;
            return resolve();
          } else {
            answers++;
          }
          next();
        });
      }
    });
  }
}

function loadFor(ms) {
  const end = performance.now() + ms;
  return load(() => performance.now() >= end);
}

function loadOf(requests) {
  let left = requests;
  return load(() => left-- <= 0);
}

process.send({
  ...(await (count ? counts() : rates())),
  answers,
  shed,
  stats: await ask('stats'),
  wrong,
});
await stop();
process.disconnect();

async function rates() {
  await loadFor(600);
  const cpu = new CpuClock(pid);
  const [before, start, used, loop] = [
    answers,
    performance.now(),
    cpu.read(),
    performance.eventLoopUtilization(),
  ];
  await loadFor(seconds * 1000);
  const [done, ms] = [answers - before, performance.now() - start];
  return {
    good_per_s: (done / ms) * 1000,
    cpu_us_per_req: (cpu.read() - used) / done,
    utilization: performance.eventLoopUtilization(loop).utilization,
  };
}

async function counts() {
  await loadOf(count);
  const { used } = await ask('collect');
  await loadOf(count);
  const heap = await ask('heap');
  if (heap.collections > 0) wrong ??= `the heap was collected ${heap.collections} times meanwhile`;
  const allocated_bytes_per_req = (heap.used - used) / count;
  if (!syscalls) return { allocated_bytes_per_req };
  const calls = await countSyscalls(pid, () => loadOf(count));
  const all = Object.values(calls).reduce((a, b) => a + b, 0);
  return { allocated_bytes_per_req, syscalls_per_req: all / count, calls };
}
