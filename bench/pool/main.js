/** What batched dispatch is worth to CPU tasks on worker threads: `make bench NAME=pool`. */
import { fileURLToPath } from 'node:url';
import { stepsPerMs } from '../guard/work.js';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { Refused } from '../lib/refused.js';
import { mean, median, share } from '../lib/statistics.js';
import { crowd, health, mixed, payloads, rates, replacement, workers } from './cases.js';

const module = (name) => new URL(`./${name}-arm.js`, import.meta.url);
const program = (name) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
const ours = 'millrace';
const piscina = 'piscina';
const others = ['tinypool', 'workerpool', 'poolifier'];

const metrics = {
  tasks_per_s: { unit: '1/s', better: 'higher' },
  main_cpu_us_per_task: { unit: 'us', better: 'lower' },
  loop_p99_ms: { unit: 'ms', better: 'lower' },
  p50_us: { unit: 'us', better: 'lower' },
  p99_us: { unit: 'us', better: 'lower' },
  rss_bytes_per_worker: { unit: 'B', better: 'lower' },
  health_p99_ms: { unit: 'ms', better: 'lower' },
  health_p99_ratio: { unit: '1', better: 'lower' },
  replacement_ms: { unit: 'ms', better: 'lower' },
  replacement_ratio: { unit: '1', better: 'lower' },
  answered_share: { unit: '1', better: 'higher' },
};

await runBench('pool', async (bench) => {
  const perMs = stepsPerMs();
  const full = { rounds: 21, warmup: 1 };
  for (const title of Object.keys(rates)) await compareRates(title);
  await compareMixed();
  for (const title of Object.keys(payloads)) await comparePayloads(title);
  if (!bench.quick) await compareMemory();
  await compareHealth();
  await compareReplacement();

  async function compareRates(title) {
    const { target, deep, warmup } = rates[title];
    // A quick run leaves out what has no target.
    if (bench.quick && target === undefined) return;
    const peers = [piscina, ...(bench.quick ? [] : others)];
    if (!bench.quick && title === 'no-op deep') peers.push('piscina concurrent');
    const size = bench.quick ? { rounds: 6, warmup: 0 } : full;
    const seconds = bench.quick ? 0.25 : 0.6;
    const rounds = await compare(title, peers, size, 'rate', () => ({ title, warmup, seconds }));
    const more = deep === undefined ? ['p50_us', 'p99_us'] : ['loop_p99_ms'];
    const figures = ['tasks_per_s', 'main_cpu_us_per_task', ...more];
    addAll(title, rounds, peers, figures, { tasks_per_s: target });
  }

  async function compareMixed() {
    const { title, target, short, long } = mixed;
    const peers = [piscina, ...(bench.quick ? [] : others)];
    const size = { rounds: bench.quick ? 6 : 11, warmup: 0 };
    const seconds = { warmup: 0.3, seconds: bench.quick ? 1.3 : 6 };
    // The arms of a round get the same tasks at the same times.
    const rounds = await compare(title, peers, size, 'mixed', (round) => ({
      ...seconds,
      seed: (bench.seed + 2 * round) % 2 ** 32,
    }));
    addAll(title, rounds, peers, ['p50_us', 'p99_us'], { p99_us: target });
    const load = (short.us * short.perSecond + long.us * long.perSecond) / 1e6;
    bench.note(
      `${title}: ${short.perSecond} short and ${long.perSecond} long tasks a second, ${Math.round((load / workers) * 100)} % of ${workers} workers`,
    );
  }

  async function comparePayloads(title) {
    const { target } = payloads[title];
    const peers = [piscina, ...(bench.quick ? [] : others)];
    const size = bench.quick ? { rounds: 6, warmup: 0 } : full;
    const seconds = { warmup: 0.1, seconds: bench.quick ? 0.2 : 0.4 };
    const rounds = await compare(title, peers, size, 'payload', () => ({ title, ...seconds }));
    addAll(title, rounds, peers, ['tasks_per_s', 'main_cpu_us_per_task'], { tasks_per_s: target });
  }

  /** Memory of a worker: what a process with many has more than one with one. */
  async function compareMemory() {
    const title = 'memory';
    const rss = async (subject, count) => {
      const sample = await run('memory', subject, { workers: count });
      return refuse(title, subject, sample).rss;
    };
    const difference = (subject) => async () => ({
      rss_bytes_per_worker: ((await rss(subject, crowd)) - (await rss(subject, 1))) / (crowd - 1),
    });
    const peers = [piscina, ...others];
    const arms = [ours, ...peers].map((subject) => [subject, difference(subject)]);
    const rounds = await bench.rounds(title, Object.fromEntries(arms), { rounds: 11, warmup: 0 });
    addAll(title, rounds, peers, ['rss_bytes_per_worker']);
  }

  /** Each server's own p99 when idle is what that during a computation is compared with. */
  async function compareHealth() {
    const { title, bound } = health;
    const peers = bench.quick ? ['blocked'] : [piscina, 'blocked'];
    const size = { rounds: bench.quick ? 6 : 7, warmup: 0 };
    const rounds = await compare(title, peers, size, 'health', (round, subject) => ({
      command: [process.execPath, program('health-server'), subject, `${perMs}`],
      seed: (bench.seed + round) % 2 ** 32,
      seconds: bench.quick ? 0.8 : 4,
      whole: !bench.quick,
    }));
    addBound(title, rounds, 'health_p99_ratio', bound);
    addAll(title, rounds, peers, ['health_p99_ratio', 'health_p99_ms']);
    const idle = median(rounds.map((round) => round[ours].idle_p99_ms));
    bench.note(`${title}: p99 of /health when idle ${idle.toFixed(1)} ms`);
  }

  async function compareReplacement() {
    const { title, bound } = replacement;
    const peers = bench.quick ? [] : ['node:cluster'];
    const size = { rounds: bench.quick ? 6 : 11, warmup: 0 };
    const rounds = await compare(title, peers, size, 'replacement', () => ({}));
    addBound(title, rounds, 'replacement_ratio', bound);
    addAll(title, rounds, peers, ['replacement_ratio', 'replacement_ms']);
    const sum = (subject, count) => rounds.reduce((all, round) => all + round[subject][count], 0);
    const what = { case: title, metric: 'answered_share', ...metrics.answered_share, peer: null };
    const shares = rounds.map(({ [ours]: { answered, of_survivors, of_nobody } }) =>
      share(answered, answered + of_survivors + of_nobody),
    );
    bench.add({ ...what, summary: mean }, shares, 1, 1);
    for (const subject of [ours, ...peers]) {
      bench.note(
        `${title}: with ${subject}, ${sum(subject, 'answered')} requests were answered, ${sum(subject, 'of_survivors')} lost by processes ` +
          `that lived, ${sum(subject, 'of_nobody')} on connections that no process took up, and ${sum(subject, 'of_killed')} by those that were killed`,
      );
    }
    const bare = median(rounds.map((round) => round[ours].bare_ms));
    bench.note(`${title}: a bare server starts in ${bare.toFixed(0)} ms`);
  }

  /** @param {(round: number, subject: string) => object} planOf */
  async function compare(title, peers, size, arm, planOf) {
    const arms = [ours, ...peers].map((subject) => {
      let round = 0;
      return [
        subject,
        async () => refuse(title, subject, await run(arm, subject, planOf(round++, subject))),
      ];
    });
    return bench.rounds(title, Object.fromEntries(arms), size);
  }

  function run(arm, subject, plan) {
    return runArm(module(arm), [JSON.stringify({ subject, workers, perMs, ...plan })]);
  }

  function refuse(title, subject, sample) {
    if (sample.wrong) throw new Refused(`in the case '${title}', ${subject}: ${sample.wrong}`);
    return sample;
  }

  function addBound(title, rounds, metric, bound) {
    const what = { case: title, metric, ...metrics[metric], peer: null };
    const values = rounds.map((round) => round[ours][metric]);
    bench.add(what, values, bound, 1);
  }

  /** @param {Record<string, number | undefined>} [targets] against piscina, by metric */
  function addAll(title, rounds, peers, names, targets = {}) {
    const values = (subject, metric) => rounds.map((round) => round[subject][metric]);
    for (const metric of names) {
      for (const peer of peers) {
        const what = { case: title, metric, ...metrics[metric], peer };
        const target = peer === piscina ? targets[metric] : undefined;
        bench.add(what, values(ours, metric), values(peer, metric), target);
      }
    }
  }
});
