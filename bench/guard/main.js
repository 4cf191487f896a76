/** What a guard is worth to a server that is offered too much: `make bench NAME=guard`. */
import { fileURLToPath } from 'node:url';
import { runArm } from '../lib/arm.js';
import { runBench } from '../lib/bench.js';
import { pinned } from '../lib/cores.js';
import { startServer } from '../lib/load.js';
import { Refused } from '../lib/refused.js';
import { cases } from './cases.js';
import { addFigures, noteRounds } from './figures.js';
import { compareOverhead } from './overhead.js';
import { repeatSource2 } from './source2.js';

const arm = new URL('./arm.js', import.meta.url);
const program = fileURLToPath(new URL('./server.js', import.meta.url));
const ours = 'millrace';
const peers = ['unprotected', 'under-pressure'];
/** Questions for /health, each second. */
const health = 40;
const full = [6, 1.5, 4];

await runBench('guard', async (bench) => {
  const { prefix, note } = pinned();
  bench.note(note);
  const command = (subject, { perMs = 1, flags = [], file = program } = {}) => [
    ...prefix,
    ...[process.execPath, ...flags, file, subject, `${perMs}`],
  ];
  const perMs = await calibrate();
  /** Requests/s of each handler alone, by the function that gives the path. */
  const capacities = new Map();

  const titles = Object.keys(cases).filter((title) => !bench.quick || cases[title].quick !== null);
  for (const title of titles) await compare(title);
  await compareOverhead(bench, command);
  // Its servers swing from second to second: nothing to be seen in a quick run.
  if (!bench.quick) await repeatSource2(bench, command);

  async function calibrate() {
    const server = await startServer({ command: command('unprotected') });
    try {
      return (await server.ask('calibrate')).perMs;
    } finally {
      await server.stop();
    }
  }

  async function compare(title) {
    const { path, connections, times, wanted } = cases[title];
    const [count, ...measured] = bench.quick ? cases[title].quick : full;
    const isWanted = (peer) => wanted.good?.[peer] !== undefined;
    const against = bench.quick ? peers.filter(isWanted) : [...peers];
    if (!bench.quick && title === '25ms closed 50') against.push('under-pressure tuned');

    if (!capacities.has(path)) capacities.set(path, (await alone(title)).good_per_s);
    const load = times === undefined ? { connections } : { rate: times * capacities.get(path) };
    const round = (subject, seconds = measured, more = {}) => {
      let number = 0;
      return () => run(title, subject, seconds, { ...load, health, seed: number++, ...more });
    };
    const arms = Object.fromEntries([ours, ...against].map((subject) => [subject, round(subject)]));
    if (isWanted('capacity')) arms.capacity = () => alone(title);
    // Everybody connects at once to a server that has just started.
    if (wanted.cold) arms[`${ours} cold`] = round(ours, [0, 1.2], { cold: true });

    const rounds = await bench.rounds(title, arms, { rounds: count, warmup: 0 });
    for (const [subject, { wrong }] of rounds.flatMap(Object.entries)) {
      if (wrong) throw new Refused(`in the case '${title}', ${subject}: ${wrong}`);
    }
    const handlerMs = 1000 / capacities.get(path);
    addFigures(bench, title, rounds, { ours, peers: against, handlerMs });
    noteRounds(bench, title, rounds, { ours, capacity: capacities.get(path) });
  }

  /** The handler as it is, for one client after the other. */
  function alone(title) {
    const seconds = bench.quick ? 1.2 : 1.5;
    const connections = cases[title].alone ?? 1;
    return run(title, 'unprotected', [0.3, seconds], { connections, seed: 0 });
  }

  /** One arm, in processes of its own. The arms of a round get the same requests at the same times. */
  function run(title, subject, [warmup, seconds], { seed, ...more }) {
    const plan = { title, subject, command: command(subject, { perMs }), perMs };
    const all = { ...plan, warmup, seconds, seed: (bench.seed + seed) % 2 ** 32, ...more };
    return runArm(arm, [JSON.stringify(all)]);
  }
});
