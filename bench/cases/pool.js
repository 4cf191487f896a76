/** CPU tasks on two worker threads, against pools that people use. */
import { runArm } from '../lib/arm.js';
import { armsOf, programPath } from '../lib/experiment.js';
import { Refused } from '../lib/refused.js';
import { mean, median, share } from '../lib/statistics.js';
import { stepsPerMs } from '../programs/guard/work.js';
import { health, mixed, payloads, rates, replacement, workers } from '../programs/pool/work.js';

const others = ['tinypool', 'workerpool', 'poolifier'];

/**
 * The least that `ahead` has to be for tasks per second, against piscina. A thread works for as long as it takes in either where tasks are
 * long: no worse is what can be told.
 */
const targets = {
  'no-op deep': 20,
  '10us deep': 4.5,
  '100us deep': 1.5,
  '1ms deep': 0.95,
  '20ms deep': 0.95,
  'no-op single': 0.95,
};
/** Memory of a worker: that of a process with this many of them, less that of one with one. */
const crowd = 5;
/** The p99 of /health meanwhile has to be at most this many times that of the same server when idle. */
const mostRatio = 3;
/** Longest time until another process listens, as a multiple of the start of a bare server. */
const mostStarts = 2;

export default {
  question: 'What batched dispatch is worth to CPU tasks on worker threads',
  place: 80,
  rows: {
    'no-op deep': [
      'calls of a function that does nothing, 10,000 at once',
      ['tasks_per_s', 'piscina'],
      ['main_cpu_us_per_task', 'piscina'],
    ],
    '10us deep': [
      'of one of 10 µs',
      [
        'tasks_per_s',
        'piscina',
        { readme: 'CPU tasks of 10 µs on two worker threads', beside: '100us among 50ms' },
      ],
    ],
    '100us deep': ['of one of 100 µs', ['tasks_per_s', 'piscina']],
    '20ms deep': ['of one of 20 ms', ['tasks_per_s', 'piscina']],
    'no-op single': ['one call at a time', ['tasks_per_s', 'piscina']],
    '100us among 50ms': ['tasks of 100 µs among some of 50 ms', ['p99_us', 'piscina']],
    '1MB transferred': ['1 MB there and back, moved', ['tasks_per_s', 'piscina']],
    '/health during fib(1,000,000)': [
      '/health while a worker computes F(1,000,000)',
      ['health_p99_ms', 'blocked', { figure: 'p99, ms' }],
    ],
  },
  *experiments(bench) {
    const { quick } = bench;
    const perMs = stepsPerMs();
    const size = (full) => (quick ? { rounds: 6, warmup: 0 } : full);
    const whole = { rounds: 21, warmup: 1 };
    const usual = ['piscina', ...(quick ? [] : others)];

    const run = (arm, subject, plan) =>
      runArm(programPath(`pool/${arm}-arm.js`), [
        JSON.stringify({ subject, workers, perMs, ...plan }),
      ]);
    /** Comparisons, by the program and the plan of a round. */
    const against = (peers, arm, planOf, target) => ({
      arms: armsOf(
        ['millrace', ...peers],
        (subject) => (round) => run(arm, subject, planOf(round, subject)),
      ),
      peers: Object.fromEntries(
        peers.map((peer) => [peer, peer === 'piscina' ? target : undefined]),
      ),
    });

    for (const [name, { deep, warmup }] of Object.entries(rates)) {
      // A quick run leaves out what has no target.
      if (quick && targets[name] === undefined) continue;
      const peers = !quick && name === 'no-op deep' ? [...usual, 'piscina concurrent'] : usual;
      const plan = { title: name, warmup, seconds: quick ? 0.25 : 0.6 };
      const more = deep === undefined ? ['p50_us', 'p99_us'] : ['loop_p99_ms'];
      yield {
        ...{ name, ...size(whole) },
        ...against(peers, 'rate', () => plan, targets[name]),
        metrics: ['tasks_per_s', 'main_cpu_us_per_task', ...more],
      };
    }

    const { short, long } = mixed;
    const load = (short.us * short.perSecond + long.us * long.perSecond) / 1e6;
    yield {
      ...{ name: mixed.title, ...size({ rounds: 11, warmup: 0 }) },
      // The arms of a round get the same tasks at the same times.
      ...against(
        usual,
        'mixed',
        (round) => ({
          ...{ warmup: 0.3, seconds: quick ? 1.3 : 6 },
          seed: (bench.seed + 2 * round) % 2 ** 32,
        }),
        { p99_us: 1.3 },
      ),
      metrics: ['p50_us', 'p99_us'],
      notes: () => [
        `${mixed.title}: ${short.perSecond} short and ${long.perSecond} long tasks a second, ${Math.round((load / workers) * 100)} % of ${workers} workers`,
      ],
    };

    for (const name of Object.keys(payloads)) {
      const plan = { title: name, warmup: 0.1, seconds: quick ? 0.2 : 0.4 };
      yield {
        ...{ name, ...size(whole) },
        ...against(usual, 'payload', () => plan, 0.95),
        metrics: ['tasks_per_s', 'main_cpu_us_per_task'],
      };
    }

    if (!quick) {
      const rss = async (subject, count) => {
        const sample = await run('memory', subject, { workers: count });
        if (sample.wrong) throw new Refused(`in the case 'memory', ${subject}: ${sample.wrong}`);
        return sample.rss;
      };
      yield {
        ...{ name: 'memory', rounds: 11, warmup: 0 },
        arms: armsOf(['millrace', ...usual], (subject) => async () => ({
          rss_bytes_per_worker:
            ((await rss(subject, crowd)) - (await rss(subject, 1))) / (crowd - 1),
        })),
        metrics: ['rss_bytes_per_worker'],
        peers: Object.fromEntries(usual.map((peer) => [peer, undefined])),
      };
    }

    // Each server's own p99 when idle is what that during a computation is compared with.
    yield {
      ...{ name: health.title, ...size({ rounds: 7, warmup: 0 }) },
      ...against(quick ? ['blocked'] : ['piscina', 'blocked'], 'health', (round, subject) => ({
        command: [process.execPath, programPath('pool/health-server.js'), subject, `${perMs}`],
        seed: (bench.seed + round) % 2 ** 32,
        ...{ seconds: quick ? 0.8 : 4, whole: !quick },
      })),
      bounds: [['health_p99_ratio', mostRatio]],
      metrics: ['health_p99_ratio', 'health_p99_ms'],
      notes: (rounds) => [
        `${health.title}: p99 of /health when idle ${medianOf(rounds, 'idle_p99_ms').toFixed(1)} ms`,
      ],
    };

    yield {
      ...{ name: replacement.title, ...size({ rounds: 11, warmup: 0 }) },
      ...against(quick ? [] : ['node:cluster'], 'replacement', () => ({})),
      bounds: [
        ['replacement_ratio', mostStarts],
        [{ metric: 'answered_share', summary: mean, of: shareAnswered }, 1],
      ],
      metrics: ['replacement_ratio', 'replacement_ms'],
      notes: (rounds) => [
        ...Object.keys(rounds[0]).map((subject) => noteLost(rounds, subject)),
        `${replacement.title}: a bare server starts in ${medianOf(rounds, 'bare_ms').toFixed(0)} ms`,
      ],
    };
  },
};

const medianOf = (rounds, key) => median(rounds.map(({ millrace }) => millrace[key]));

function shareAnswered(round, arm) {
  const { answered, of_survivors, of_nobody } = round[arm];
  return share(answered, answered + of_survivors + of_nobody);
}

function noteLost(rounds, subject) {
  const sum = (count) => rounds.reduce((all, round) => all + round[subject][count], 0);
  return (
    `${replacement.title}: with ${subject}, ${sum('answered')} requests were answered, ${sum('of_survivors')} lost by processes ` +
    `that lived, ${sum('of_nobody')} on connections that no process took up, and ${sum('of_killed')} by those that were killed`
  );
}
