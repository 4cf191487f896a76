/**
 * Runs experiments. A benchmark is a list of experiments whose arms are programs.
 *
 * In each round every arm is measured once, in a process of its own and in random order; or servers take turns in slices of one load, see
 * slices.js. A sample with `wrong` refuses the run: arms that did not do the same work cannot be compared. Then the rounds become
 * figures, one for each pair of arms and each metric, and each with a target gets a verdict. All of this is here; a case file names the
 * arms, the metrics and the targets.
 */
import { fileURLToPath } from 'node:url';
import { runArm } from './arm.js';
import { metricOf } from './metrics.js';
import { Refused } from './refused.js';

/**
 * @typedef {object} Experiment
 * @property {string} name the case, and the title of its raw samples
 * @property {Record<string, Arm>} [arms] by name. The first one is ours, unless a comparison says otherwise
 * @property {object} [slices] in place of `arms`: the plan of servers that take turns, as for `Bench.slices`
 * @property {number} rounds that count
 * @property {number} [warmup] rounds before them; default 1
 * @property {(string | object)[]} [metrics] names of metrics.js, or objects with what differs
 * @property {Record<string, Targets>} [peers] arms that ours is compared with
 * @property {Bound[]} [bounds] that ours is compared with
 * @property {Partial<Comparison>[] | ((rounds: Record<string, any>[]) => Partial<Comparison>[])} [comparisons] in place of one, of several arms
 *   of ours, or chosen by the rounds; what a comparison leaves out is the experiment's
 * @property {(rounds: Record<string, any>[]) => (string | null)[]} [notes] remarks on the result
 *
 * @typedef {[program: string, ...args: (string | number)[]] | ((round: number) => Promise<any>)} Arm a program of bench/programs, or the path of
 *   one, with its arguments, which sends its sample as one message; or a function that measures, by the number of the round from 0
 * @typedef {number | undefined | Record<string, number | undefined>} Targets least `ahead`, by metric; a number is of the first metric
 * @typedef {[metric: string | object, bound: number, target?: number | null]} Bound `target` is the least `ahead`; default 1, null: none
 *
 * @typedef {object} Comparison
 * @property {string} case that the figures are of; default: the experiment's name
 * @property {string} ours name of an arm
 * @property {Record<string, Targets>} peers
 * @property {Record<string, string>} [theirs] arms of peers that are called otherwise in figures
 * @property {(string | object)[]} metrics
 * @property {Bound[]} bounds
 * @property {string} [backend] the path that millrace used; default: addon or js
 */

const programs = new URL('../programs/', import.meta.url);

/** Returns arms by subject. @param {string[]} subjects @param {(subject: string) => Arm} arm */
export const armsOf = (subjects, arm) =>
  Object.fromEntries(subjects.map((subject) => [subject, arm(subject)]));

/** Returns the path of a file of bench/programs. */
export const programPath = (name) => fileURLToPath(new URL(name, programs));

/**
 * Measures the experiments of a benchmark, one after the other.
 *
 * @param {import('./bench.js').Bench} bench
 * @param {import('./benchmarks.js').Benchmark} benchmark
 * @throws {Refused} when arms did different work, and when there is no case that CASE names
 */
export async function measureAll(bench, { experiments }) {
  const given = await experiments(bench);
  const steps = given[Symbol.asyncIterator]?.() ?? given[Symbol.iterator]();
  let { done, value } = await steps.next();
  while (!done) {
    const rounds = await measured(bench, value).catch(async (error) => {
      // Lets the benchmark stop its servers.
      await steps.return?.();
      throw error;
    });
    ({ done, value } = await steps.next(rounds));
  }
  if (bench.only !== null && !bench.names.has(bench.only)) {
    throw new Refused(`CASE is '${bench.only}'; there are ${[...bench.names].join(', ')}`);
  }
}

async function measured(bench, experiment) {
  const { name, arms, slices, rounds: count, warmup = 1, comparisons = [{}], notes } = experiment;
  if (!bench.isListed({ name })) return undefined;
  const rounds = slices
    ? await bench.slices(name, slices, count)
    : await bench.rounds(name, checkedArms(name, arms), { rounds: count, warmup });
  const all = typeof comparisons === 'function' ? comparisons(rounds) : comparisons;
  for (const comparison of all) compare(bench, rounds, { ...experiment, ...comparison });
  for (const note of notes?.(rounds) ?? []) if (note !== null) bench.note(note);
  return rounds;
}

/** Returns functions that measure the arms once, and refuse a wrong sample. */
function checkedArms(name, arms) {
  const checked = ([arm, given]) => {
    const measure = Array.isArray(given) ? () => runProgram(given) : given;
    let round = 0;
    return [
      arm,
      async () => {
        const sample = await measure(round++);
        if (sample.wrong) throw new Refused(`in the case '${name}', ${arm}: ${sample.wrong}`);
        return sample;
      },
    ];
  };
  return Object.fromEntries(Object.entries(arms).map(checked));
}

const runProgram = ([program, ...args]) => runArm(programPath(program), args.map(String));

function compare(bench, rounds, { name, arms, case: title = name, backend, ...of }) {
  const { ours = Object.keys(arms ?? rounds[0])[0], peers = {}, theirs = {} } = of;
  const { metrics = [], bounds = [] } = of;
  const named = { case: title, ...(backend && { backend }) };
  for (const [given, bound, target = 1] of bounds) {
    const { of: value, ...what } = metricOf(given);
    const values = rounds.map((round) => value(round, ours));
    bench.add({ ...named, ...what, peer: null }, values, bound, target ?? undefined);
  }
  for (const [peer, targets] of Object.entries(peers)) {
    const all = typeof targets === 'number' ? { [metricOf(metrics[0]).metric]: targets } : targets;
    for (const given of metrics) {
      const { of: value, ...what } = metricOf(given);
      const [a, b] = [ours, theirs[peer] ?? peer].map((arm) =>
        rounds.map((round) => value(round, arm)),
      );
      bench.add({ ...named, ...what, peer }, a, b, all?.[what.metric]);
    }
  }
}
