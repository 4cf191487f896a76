/**
 * A benchmark's run: its random order, its figures, what is printed and what is kept.
 *
 * With JSON=1 in the environment stdout carries one object a line and nothing else; what is meant
 * for people goes to stderr. QUICK=1 asks for fewer rounds, SEED=n for the order of another run, SAVE=1 for
 * the figures to be kept in the repository and in its tables, where none is without an interval of 95 %.
 */

import { randomFrom, shuffled } from '@millrace/lab/stats';
import { native } from 'millrace';
import { hostRecord } from '../../packages/lab/experiment/host.js';
import { pages, writePages } from '../tables/pages.js';
import { refusalOf, refusalOfPart, runOf, save, tooFew } from '../tables/store.js';
import { busyShare } from './busy.js';
import { measureAll } from './experiment.js';
import { figure } from './figure.js';
import { Refused } from './refused.js';
import { keep } from './results.js';
import { slicedRound } from './slices.js';
import { LEAST_ROUNDS } from './statistics.js';
import { table } from './table.js';
import { verdict } from './verdict.js';

export class Bench {
  /** True if the run should take minutes rather than tens of them. */
  quick = Boolean(process.env.QUICK);
  /** True for a quick run that is not kept: then cases that pages only quote may be left out. */
  isBrief = this.quick && !process.env.SAVE;
  /** The only experiment that is to be run; null: all. */
  only = process.env.CASE || null;
  /** Names of the experiments that there are. */
  names = new Set();
  #name;
  #date = new Date();
  // At the start: a benchmark may pin itself to some of the cores later.
  #machine = hostRecord();
  #seed = seedFrom(process.env.SEED);
  #random = randomFrom(this.#seed);
  #entries = [];
  #notes = [];
  #raw = [];
  #json = Boolean(process.env.JSON);
  #save = Boolean(process.env.SAVE);
  /** @type {import('../tables/store.js').Parts} */
  #parts = {};

  constructor(name) {
    this.#name = name;
  }

  /** Of everything in the run that is random. */
  get seed() {
    return this.#seed;
  }

  /**
   * Says which cases are not run. With SAVE=1 the figures that are kept of them stay, beside those of this run.
   *
   * @param {import('../tables/store.js').Parts} parts
   * @throws {Refused} when the figures beside those of one case are of another machine
   */
  leaveOut(parts) {
    this.#parts = parts;
    const refusal =
      this.#save && parts.ofCase ? refusalOfPart(runOf(this.#name), this.#machine) : null;
    if (refusal !== null) throw new Refused(refusal);
  }

  /** Reports whether an experiment is run: in a quick run those without `quick: false`, and the one that CASE names. */
  isListed({ name, quick }) {
    this.names.add(name);
    return this.only === null ? !this.quick || quick !== false : this.only === name;
  }

  /** Shows progress. */
  say(line) {
    process.stderr.write(`${line}\n`);
  }

  /** A remark that belongs to the result; printed with it. */
  note(line) {
    this.#notes.push(line);
  }

  /** Notes when other work is running: it takes from both arms, but not evenly. */
  async checkQuiet() {
    const share = await busyShare();
    this.#machine.busy_before = share;
    if (share < 0.05) return;
    this.note(
      `other work took ${Math.round(share * 100)} % of the CPUs before the start: expect noise`,
    );
  }

  /**
   * Measures arms in paired rounds and keeps the raw samples: in each round every arm once, close together and in random order.
   *
   * @throws {Refused} with SAVE=1 and so few rounds that there is no interval: before the first of them
   */
  async rounds(title, arms, { rounds, warmup }) {
    if (this.#save && rounds < LEAST_ROUNDS) throw new Refused(tooFew(title, rounds));
    const all = [];
    while (all.length < warmup + rounds) {
      const samples = {};
      for (const name of shuffled(Object.keys(arms), this.#random)) {
        samples[name] = await arms[name]();
      }
      all.push(samples);
      const kind = all.length > warmup ? '' : ' (warm-up)';
      this.say(`${title}: round ${all.length} of ${warmup + rounds}${kind}`);
    }
    const samples = all.slice(warmup);
    this.#raw.push({ case: title, rounds: samples });
    return samples;
  }

  /**
   * Measures servers in slices of one load, with new processes in each round, and keeps the raw samples.
   *
   * @param {Omit<Parameters<typeof slicedRound>[0], 'random'>} plan
   * @throws {Refused} as `rounds`, and when a load says that something was `wrong`
   */
  async slices(title, plan, rounds) {
    if (this.#save && rounds < LEAST_ROUNDS) throw new Refused(tooFew(title, rounds));
    const samples = [];
    while (samples.length < rounds) {
      samples.push(await slicedRound({ ...plan, random: this.#random }));
      this.say(`${title}: round ${samples.length} of ${rounds}`);
      for (const [arm, { load }] of Object.entries(samples.at(-1))) {
        if (load.wrong) throw new Refused(`in the case '${title}', ${arm}: ${load.wrong}`);
      }
    }
    this.#raw.push({ case: title, rounds: samples });
    return samples;
  }

  /**
   * Adds a figure: `ours` and `theirs` hold one value a round; a number for `theirs` is a bound.
   * `target` is the least that `ahead` has to be.
   */
  add(what, ours, theirs, target) {
    const named = { bench: this.#name, backend: native === null ? 'js' : 'addon', ...what };
    const rounds = ours.map((value, i) => [value, Array.isArray(theirs) ? theirs[i] : theirs]);
    this.#entries.push({ figure: figure(named, ours, theirs), target, rounds });
  }

  /** Prints the figures and keeps everything. */
  finish() {
    const on = this.#machine;
    const seconds = (Date.now() - this.#date.getTime()) / 1000;
    const run = {
      bench: this.#name,
      date: this.#date.toISOString(),
      quick: this.quick,
      seed: this.#seed,
      seconds,
      machine: on,
      notes: this.#notes,
      figures: this.#entries.map(({ figure: each, target, rounds }) => ({
        ...each,
        target,
        verdict: verdict(each, target),
        rounds,
      })),
      raw: this.#raw,
    };
    const path = keep(this.#name, this.#date, run);
    if (this.#json) for (const { figure: each } of this.#entries) console.log(JSON.stringify(each));
    const out = this.#json ? process.stderr : process.stdout;
    out.write(`\n${table(this.#entries)}\n\n`);
    for (const note of this.#notes) out.write(`${note}\n`);
    out.write(
      `${on.cpu}, ${on.cores} cores, ${on.kernel}, Node ${on.node}; seed ${this.#seed}, ${seconds.toFixed(0)} s\n` +
        `raw samples: ${path}\n`,
    );
    if (!this.#save) return;
    const refusal = refusalOf(run);
    if (refusal !== null) throw new Refused(refusal);
    save(run, this.#parts);
    writePages();
    this.say(`kept in bench/measured/${this.#name}.jsonl; written: ${pages.join(', ')}`);
  }
}

/**
 * Runs a benchmark and prints its figures; a refused run ends with a sentence and code 1.
 *
 * @param {string} name
 * @param {import('./benchmarks.js').Benchmark} benchmark
 */
export async function runBench(name, benchmark) {
  const bench = new Bench(name);
  try {
    if (bench.only !== null && process.env.SAVE && !benchmark.keepsParts) {
      throw new Refused('SAVE=1 keeps a run of all cases; leave out CASE');
    }
    if (await benchmark.instead?.(bench)) return;
    await bench.checkQuiet();
    await measureAll(bench, benchmark);
    bench.finish();
    benchmark.after?.();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    bench.say(`refused: ${error.message}`);
    process.exitCode = 1;
  }
}

function seedFrom(text) {
  if (text === undefined || text === '') return Math.floor(Math.random() * 2 ** 32);
  const seed = Number(text);
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32) return seed;
  throw new RangeError(`SEED is '${text}'; it must be an integer from 0 to ${2 ** 32 - 1}`);
}
