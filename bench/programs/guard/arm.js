/**
 * Arm of one round: `node arm.js PLAN`, a JSON object, starts a server, loads it from its first
 * moment on, asks for its health meanwhile, and sends what came back.
 */

import { randomFrom } from '@millrace/lab/stats';
import { CpuClock } from '../../lib/cpu.js';
import { get, Pool } from '../../lib/http-client.js';
import { startServer } from '../../lib/load.js';
import { percentile, poisson, sendWhenDue } from './clock.js';
import { classes, paths, patienceMs } from './offers.js';
import { work } from './work.js';

/**
 * @typedef {object} Plan
 * @property {keyof paths} path of its requests
 * @property {string} subject
 * @property {string[]} command that starts the server
 * @property {number} perMs steps of work that take a millisecond
 * @property {number} seed of the arrivals
 * @property {number} warmup s; nothing of it counts, but what /health answered
 * @property {number} seconds that count
 * @property {number} [connections] of a closed loop
 * @property {boolean} [cold] they are not connected before the load begins
 * @property {number} [rate] requests/s of an open one
 * @property {number} [health] questions/s; 0: none
 */
const plan = JSON.parse(process.argv[2]);
const path = paths[plan.path];
const random = randomFrom(plan.seed);
/** Number whose multiples are spread evenly: a short run has the same mix as a long one. */
const golden = 0.618034;

const starting = startServer({ command: plan.command });
const asked = [];
let wrong = null;

const [asyncFirst, asyncThen] = [5, 20].map((ms) => work(ms * plan.perMs));
const bodies = {
  '/work': `${work(25 * plan.perMs)}`,
  '/short': `${work(plan.perMs)}`,
  '/long': `${work(50 * plan.perMs)}`,
  '/async': `${asyncFirst} ${asyncThen}`,
};

const { pid, port, died, ask, stop } = await starting;
const cpu = new CpuClock(pid);
const pools = [new Pool(port)];
if (plan.connections > 0 && !plan.cold) {
  await pools[0].connect(plan.connections);
  // Connected is not accepted yet: that takes the server a turn of its loop for each.
  await until(performance.now() + 50);
}
const start = performance.now();
const counted = start + plan.warmup * 1000;
const end = counted + plan.seconds * 1000;

const loaded = plan.rate === undefined ? closed(plan.connections) : open(plan.rate);
const health = probe(plan.health);
const window = measure();
await Promise.race([Promise.all([loaded, health, window]), died]);
await drained(patienceMs + 100);
const sample = report(await loaded, await health, await window);
for (const pool of pools) pool.close();
if (plan.subject === 'millrace') sample.server = await ask('stats');
await stop();
process.send(sample);
process.disconnect();

/** Sends one request; `due` is when, `from` the moment from which its latency counts. */
function request(from, event, then) {
  const one = { ...event, from, done: Number.NaN, status: null };
  asked.push(one);
  pools[0].request(bytesOf(event), (status, body) => {
    one.done = performance.now();
    one.status = status;
    if (status === 200 && body !== bodies[event.path])
      wrong ??= `the answer to ${event.path} was ${body.slice(0, 60)}`;
    then?.(status);
  });
}

function bytesOf({ path: to, class: name }) {
  return get(to, name && { 'x-priority': name });
}

function closed(connections) {
  let draws = 0;
  for (let i = 0; i < connections; i++) next();
  return [];

  function next() {
    const now = performance.now();
    if (now >= end) return;
    // Without a connection there is nothing to wait for.
    request(now, { path: path((draws++ * golden) % 1) }, (status) =>
      status === 0 ? setTimeout(next, 100) : next(),
    );
  }
}

function open(rate) {
  const events = [...poisson(rate, start, end, random)].map((due) => ({
    due,
    path: path(random()),
    class: classOf(random()),
  }));
  return sendWhenDue(events, (event) => request(event.due, event));
}

function classOf(draw) {
  if (draw < classes.high) return 'high';
  return draw < classes.high + classes.normal ? 'normal' : 'low';
}

/** Asks for /health, in turn on a connection that is kept and on a new one. */
async function probe(rate = 0) {
  if (rate === 0) return { probes: [], late: [] };
  const [kept, fresh] = [new Pool(port), new Pool(port, { keepAlive: false })];
  pools.push(kept, fresh);
  const bytes = get('/health');
  const probes = [...poisson(rate, start, end, randomFrom(plan.seed + 1))].map((due, n) => ({
    due,
    isNew: n % 2 === 1,
    done: Number.NaN,
    status: null,
  }));
  const late = await sendWhenDue(probes, (one) => {
    (one.isNew ? fresh : kept).request(bytes, (status) => {
      one.done = performance.now();
      one.status = status;
    });
  });
  return { probes, late };
}

/** CPU of the server and the load of this process while it counts. */
async function measure() {
  await until(counted);
  const [used, loop] = [cpu.read(), performance.eventLoopUtilization()];
  await until(end);
  return {
    cpu_us: cpu.read() - used,
    utilization: performance.eventLoopUtilization(loop).utilization,
  };
}

function until(moment) {
  return new Promise((resolve) => setTimeout(resolve, moment - performance.now()));
}

/** Waits until every request has its answer, but no longer than this many ms. */
async function drained(ms) {
  const { probes } = await health;
  const last = performance.now() + ms;
  const isWaiting = ({ status }) => status === null;
  while (performance.now() < last && (asked.some(isWaiting) || probes.some(isWaiting)))
    await until(performance.now() + 20);
}

function report(late, { probes, late: probesLate }, { cpu_us, utilization }) {
  const now = performance.now();
  const isOpen = plan.rate !== undefined;
  // A closed loop has as many answers as it has room for: those of the window count, whenever they were asked for.
  const inWindow = asked.filter(({ from, done }) =>
    isOpen ? from >= counted : done >= counted && done < end,
  );
  const isGood = ({ status, done, from }) => status === 200 && done - from <= patienceMs;
  const latencies = inWindow
    .filter(({ status }) => status === 200)
    .map(({ done, from }) => done - from);
  const good = inWindow.filter(isGood).length;
  const lateness = [...late, ...probesLate];
  const waited = (list) => list.map(({ due, done }) => (Number.isNaN(done) ? now : done) - due);
  return {
    seed: plan.seed,
    seconds: plan.seconds,
    rate: plan.rate,
    good_per_s: good / plan.seconds,
    cpu_us_per_req: cpu_us / Math.max(good, 1),
    cpu_share: cpu_us / 1e6 / plan.seconds,
    offered: inWindow.length,
    good,
    status: countBy(inWindow, ({ status }) => status ?? 'none'),
    ok_p50_ms: percentile(latencies, 0.5),
    ok_p99_ms: percentile(latencies, 0.99),
    ok_max_ms: percentile(latencies, 1),
    classes: Object.fromEntries(
      Object.keys(classes).map((name) => {
        const own = inWindow.filter((one) => one.class === name);
        return [
          name,
          {
            offered: own.length,
            good: own.filter(isGood).length,
            shed: own.filter(({ status }) => status === 503).length,
          },
        ];
      }),
    ),
    health: {
      n: probes.length,
      ok: probes.filter(({ status }) => status === 200).length,
      p50_ms: percentile(waited(probes), 0.5),
      p99_ms: percentile(waited(probes), 0.99),
      new_p99_ms: percentile(waited(probes.filter(({ isNew }) => isNew)), 0.99),
      max_ms: percentile(waited(probes), 1),
    },
    generator: {
      utilization,
      late_p99_ms: percentile(lateness, 0.99),
      late_max_ms: percentile(lateness, 1),
    },
    wrong,
  };
}

function countBy(items, key) {
  const counts = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}
