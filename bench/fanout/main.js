/**
 * Messages to rooms of WebSockets, against the servers that people use, and to event streams: `make bench NAME=fanout`. CASE='500 readers sse
 * closed' measures that case alone.
 */
import { runBench } from '../lib/bench.js';
import { noteGenerator, refuseBackend, refuseFaults, refuseUnbatched } from '../lib/checks.js';
import { pinned } from '../lib/cores.js';
import { measure, metrics } from '../lib/load.js';
import { Refused } from '../lib/refused.js';
import { backends, streamArms, versions } from './arms.js';
import { cases, streams } from './cases.js';
import { compared, isBehind } from './comparisons.js';
import { measureStreams } from './streams.js';

const valuesOf = (samples, arm, metric) => samples.map((round) => round[arm][metric]);

await runBench('fanout', async (bench) => {
  const { quick } = bench;
  const { prefix, note } = pinned();
  bench.note(note);
  bench.note(`millrace by ${backends.join(' and ')}; ${versions}`);
  const timing = quick ? { warmup: 0.3, seconds: 1.1 } : { warmup: 1, seconds: 4 };
  const size = quick ? { rounds: 6, warmup: 0 } : { rounds: 9, warmup: 1 };
  let saturation;
  const asked = process.env.CASE;
  // One offers a multiple of what another delivers.
  const alone = [...cases, streams].filter(({ overload }) => overload === undefined);
  if (asked && !alone.some(({ name }) => name === asked)) {
    const list = alone.map(({ name }) => name).join(', ');
    throw new Refused(`CASE is '${asked}'; there are ${list}`);
  }
  if (asked && process.env.SAVE) {
    throw new Refused('SAVE=1 keeps a run of all cases; leave out CASE');
  }
  const isWanted = (each) => (asked ? each.name === asked : !quick || each.quick !== false);

  for (const which of cases.filter(isWanted)) {
    const { name, load, overload, behind = [] } = which;
    const offered = load ?? { mode: 'open', deliveriesRate: saturation * overload };
    const { arms, comparisons } = compared(which, quick);

    const once = async (arm, { command, env, backend, protocol = 'raw', question }) => {
      const late = isBehind(behind, arm);
      const sample = await measure(
        { command: [...prefix, ...command], env },
        {
          ...{ payload: 100, protocol, drain: late ? 0.2 : 30 },
          ...{ ...timing, ...which.crowd, ...offered },
        },
        late ? null : question,
      );
      refuseFaults(name, arm, sample.report, late);
      if (backend && !late) refuseBackend(name, arm, sample.stats, backend);
      if (backend && offered.mode === 'closed') refuseUnbatched(name, arm, sample.stats);
      return sample;
    };
    const runs = Object.entries(arms).map(([arm, server]) => [arm, () => once(arm, server)]);
    const samples = await bench.rounds(name, Object.fromEntries(runs), size);
    for (const comparison of comparisons) add(comparison, which.bounds, samples);
    noteGenerator(bench, name, samples);
    if (offered.mode === 'closed') {
      // The best round: other work on the machine can only lower it.
      saturation = Math.max(...valuesOf(samples, 'ws', 'msgs_per_s'));
      bench.note(`saturation of ws, from the closed case: ${Math.round(saturation)} deliveries/s`);
    }
  }

  if (isWanted(streams)) await addStreams();

  async function addStreams() {
    const { name, peer, targets } = streams;
    const once = async (arm, { command, env, backend }) => {
      const sample = await measureStreams({ command: [...prefix, ...command], env }, timing);
      if (backend) refuseBackend(name, arm, sample.stats, backend);
      if (backend) refuseUnbatched(name, arm, sample.stats);
      return sample;
    };
    const arms = streamArms(quick);
    const runs = Object.entries(arms).map(([arm, server]) => [arm, () => once(arm, server)]);
    const samples = await bench.rounds(name, Object.fromEntries(runs), size);
    for (const metric of Object.keys(targets)) {
      for (const [arm, { backend }] of Object.entries(arms).filter(([arm]) => arm !== peer)) {
        bench.add(
          { case: name, metric, peer, backend, ...metrics[metric] },
          valuesOf(samples, arm, metric),
          valuesOf(samples, peer, metric),
          targets[metric],
        );
      }
    }
  }

  /** The portable backend's row first, the other's beside it. */
  function add({ title, peer, targets, names, pairs }, bounds, samples) {
    for (const metric of names) {
      for (const { backend, ours, theirs } of pairs) {
        const target = targets[metric];
        bench.add(
          { case: title, metric, peer, backend, ...metrics[metric] },
          valuesOf(samples, ours, metric),
          peer === null ? bounds[metric] : valuesOf(samples, theirs, metric),
          typeof target === 'object' ? (target[backend] ?? target.send) : target,
        );
      }
    }
  }
});
