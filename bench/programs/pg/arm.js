/**
 * Arm of one round: `node arm.js SUBJECT URL PLAN` sends queries per second, the CPU of the client for each, the 99th percentile of
 * their times, and what was wrong, if anything. Every row is checked.
 */
import { subjects, users } from './subjects.js';

const [subject, url, json] = process.argv.slice(2);
const plan = JSON.parse(json);
const { callers, clients } = plan;
const warmupMs = 500;
const measuredMs = 1000;

const { find, shared, end } = subjects[subject](url, plan);
let wrong = null;
let times = [];

async function runFor(ms) {
  times = [];
  const until = performance.now() + ms;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      let id = caller;
      for (let sent = performance.now(); sent < until; ) {
        id = ((id * 7919 + 1) % users) + 1;
        const row = await find(id);
        if (row?.id !== id || row.mail !== `${id}@example.com`)
          wrong ??= `row ${id} was ${JSON.stringify(row)}`;
        const now = performance.now();
        times.push(now - sent);
        sent = now;
      }
    }),
  );
}

await runFor(warmupMs);
const [before, start, cpu] = [shared?.() ?? 0, performance.now(), process.cpuUsage()];
await runFor(measuredMs);
const [ms, { user, system }] = [performance.now() - start, process.cpuUsage(cpu)];
const count = times.length;
times.sort((a, b) => a - b);
if (shared !== null && callers > clients && shared() - before < count / 4) {
  wrong ??= `${shared() - before} of ${count} queries shared a connection`;
}
await end();
process.send({
  queries_per_s: (count / ms) * 1000,
  cpu_us_per_query: (user + system) / count,
  p99_ms: times[Math.floor(count * 0.99)],
  wrong,
});
