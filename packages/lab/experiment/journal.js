/**
 * The journal of an experiment that takes hours: each round is kept as soon as it has ended, so that Ctrl-C, a kill or a power cut
 * costs the round that was under way and no other. One JSON object a line: the head says what is measured, by which code and on which
 * machine; then the rounds in the order in which they were made, and a line for each time that the run was gone on with.
 *
 * A run is gone on with only by the same code and settings on the same machine: rounds of different ones are not one sample. The
 * journal replays what it has, and the order of the arms comes from the seed, so that a run in ten parts has the rounds that
 * a run without a break has. A line that was not written to its end is dropped. The journal is removed once the results are kept.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { LabError } from '../load/errors.js';
import { randomSeed } from '../stats/random.js';
import { pathOf } from './files.js';
import { countedRuns } from './gather.js';
import { hostRecord } from './host.js';
import { armFor, planOf } from './plan.js';
import { loadRecord } from './record.js';
import { makeFolder } from './results.js';

const FORMAT = 1;

/** Most files that are named as different. */
const NAMED = 3;

/**
 * @typedef {object} Head
 * @property {string} experiment
 * @property {Record<string, unknown>} settings what was asked for, the seed among it
 * @property {Record<string, unknown>} machine
 * @property {Record<string, string>} code see `codeOf`
 *
 * @typedef {object} Kept a round
 * @property {import('./gather.js').Round} round
 * @property {'whole' | 'hindered' | 'refused'} outcome
 * @property {number} seconds since this part of the run began
 */
export class Journal {
  #path;
  #file = null;

  /** Start of the run. @type {Date} */
  date;
  /** The rounds that were made before, in order. @type {Kept[]} */
  kept = [];
  /** Starts of the parts of the run, ISO 8601. @type {string[]} */
  parts;
  /** Time of the parts before this one. */
  secondsBefore = 0;

  /**
   * A new one. Nothing is written before the first round.
   *
   * @param {string} folder
   * @param {Head} head
   */
  static begin(folder, head) {
    const journal = new Journal(fileOf(folder, head.experiment, new Date()));
    journal.date = new Date();
    journal.parts = [journal.date.toISOString()];
    journal.head = { format: FORMAT, date: journal.parts[0], ...head };
    return journal;
  }

  /**
   * The last one of an experiment that was not ended, to go on with.
   *
   * @param {string} folder
   * @param {string} experiment its name
   * @returns {Journal | null} null where there is none
   */
  static last(folder, experiment) {
    if (!existsSync(folder)) return null;
    const start = `unfinished-${experiment}-2`;
    const names = readdirSync(folder).filter((name) => name.startsWith(start));
    const name = names.sort().at(-1);
    return name === undefined ? null : Journal.#read(join(folder, name));
  }

  static #read(path) {
    const text = readFileSync(path, 'utf8');
    const end = text.lastIndexOf('\n') + 1;
    let lines;
    try {
      lines = text.slice(0, end).split('\n').slice(0, -1).map(JSON.parse);
    } catch (error) {
      throw damaged(path, error.message);
    }
    const [head, ...rest] = lines;
    if (head?.format !== FORMAT) throw damaged(path, 'it has no head that this version knows');
    // The end of the last line may have been lost with the power.
    truncateSync(path, Buffer.byteLength(text.slice(0, end)));
    const journal = new Journal(path);
    journal.head = head;
    journal.date = new Date(head.date);
    journal.parts = [head.date, ...rest.flatMap(({ part }) => part ?? [])];
    journal.kept = rest.filter(({ round }) => round !== undefined);
    let before = 0;
    for (const { part, seconds = before } of rest) {
      if (part !== undefined) journal.secondsBefore += before;
      before = part === undefined ? seconds : 0;
    }
    journal.secondsBefore += before;
    return journal;
  }

  constructor(path) {
    this.#path = path;
  }

  get path() {
    return this.#path;
  }

  /** Runs that it had, of rounds that count. */
  get runs() {
    return this.kept.reduce((sum, kept) => sum + countedRuns(kept), 0);
  }

  /**
   * Continues the journal.
   *
   * @param {Head} head as it is now
   * @throws {LabError} `MILLRACE_LAB_E_INVALID_OPTION` naming what differs
   */
  goOn(head) {
    const found = differences(this.head, JSON.parse(JSON.stringify(head)));
    if (found.length > 0) {
      throw new LabError(
        'MILLRACE_LAB_E_INVALID_OPTION',
        `the run in ${this.#path} cannot be gone on with: ${found.join('; ')}. ` +
          'Make these as they were, or begin anew without --resume',
      );
    }
    this.parts.push(new Date().toISOString());
    this.#append({ part: this.parts.at(-1) });
  }

  /** Keeps a round, on the disk. @param {Kept} kept @throws {LabError} `MILLRACE_LAB_E_RESULTS` */
  add(kept) {
    this.#append(kept);
  }

  #append(line) {
    try {
      if (this.#file === null) {
        const isNew = !existsSync(this.#path);
        if (isNew) makeFolder(join(this.#path, '..'));
        this.#file = openSync(this.#path, 'a');
        if (isNew) appendFileSync(this.#file, `${JSON.stringify(this.head)}\n`);
      }
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
      fsyncSync(this.#file);
    } catch (error) {
      throw new LabError(
        'MILLRACE_LAB_E_RESULTS',
        `a round could not be kept in ${this.#path} (${error.message})`,
      );
    }
  }

  close() {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  /** The results have all that is in it. */
  remove() {
    this.close();
    rmSync(this.#path, { force: true });
  }
}

const fileOf = (folder, experiment, date) =>
  join(folder, `unfinished-${experiment}-${date.toISOString().replaceAll(':', '-')}.jsonl`);

const damaged = (path, why) =>
  new LabError('MILLRACE_LAB_E_RESULTS', `${path} is damaged (${why}); remove it, and begin anew`);

/** Sentences: what was, and what is. */
function differences(before, now) {
  const named = (kind) =>
    keysOf(before[kind], now[kind])
      .filter((key) => !isDeepStrictEqual(before[kind][key], now[kind][key]))
      .map((key) => `${key} was ${shown(before[kind][key])} and is ${shown(now[kind][key])}`);
  return [...named('settings'), ...named('machine'), ...codeDifference(before.code, now.code)];
}

function codeDifference(before, now) {
  const files = keysOf(before, now).filter((path) => before[path] !== now[path]);
  if (files.length === 0) return [];
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more files` : '';
  return [`the code differs in ${files.slice(0, NAMED).join(', ')}${more}`];
}

const keysOf = (a, b) => [...new Set([...Object.keys(a), ...Object.keys(b)])];

/** Long ones are cut. */
function shown(value) {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/**
 * The journal of a run: with `resume` the last one that was not ended, else a new one. An experiment of the command line alone has
 * none: its servers listen on other ports each time.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./args.js').Options & { folder: string }} options
 * @returns {{ journal: Journal | undefined, seed: number, hint: string | null }}
 * @throws {LabError} as `Journal`
 */
export function journalOf(experiment, { folder, name, resume, ...options }) {
  if (name === undefined) return { journal: undefined, seed: options.seed, hint: null };
  const last = Journal.last(folder, experiment.name);
  const unfinished = last && `an unfinished run (${last.kept.length} rounds, ${last.path})`;
  const isResumed = resume && last !== null;
  const seed = options.seed ?? (isResumed ? last.head.settings.seed : randomSeed());
  const head = headOf(experiment, pathOf(name), { ...options, seed });
  if (isResumed) {
    last.goOn(head);
    return { journal: last, seed, hint: `Going on with ${unfinished}.` };
  }
  const journal = Journal.begin(folder, head);
  if (resume) return { journal, seed, hint: 'There is no unfinished run: a new one begins.' };
  return { journal, seed, hint: last && `There is ${unfinished}; --resume goes on with it.` };
}

/** @returns {Head} */
function headOf(experiment, path, { size, rounds, seed }) {
  const { load_average: _, ...machine } = hostRecord();
  const { arms, cases } = planOf(experiment, { size, rounds });
  const params = cases.map(({ at }) => ({ ...at, size, seed }));
  const first = arms.map(({ arm }) => armFor(arm, params[0]));
  return {
    experiment: experiment.name,
    settings: {
      ...{ size, seed },
      rounds: Object.fromEntries(cases.map(({ at, rounds }) => [at.label, rounds])),
      arms: first.map(({ name, command, env }) => ({ name, command, env })),
      load: loadRecord(experiment.load, params),
    },
    machine,
    code: codeOf(path),
  };
}

/** A mark of the code that an experiment measures and is measured by, so that rounds of two days can be told to be of the same code. */

/** The root of the working copy, or the folder in which packages are installed. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** In a working copy: what arms, loads and the lab itself are made of. */
const PARTS = ['packages', 'examples', 'bench/claims', 'package-lock.json'];

/** The folder in which the lab is installed: the lab itself. */
const LAB = fileURLToPath(new URL('../', import.meta.url));

const CODE = /\.([cm]?js|cts|ts|json|node|c|h|html|css)$/;

/** Tests measure nothing, and results change with each run. */
const LEFT_OUT = /^(node_modules|(millrace-)?results|soak|types|test(-.*)?|\..*)$/;

/**
 * The files of the code, each with a hash of its bytes.
 *
 * @param {string} file of the experiment
 * @returns {Record<string, string>} by path, from the root of the working copy
 */
function codeOf(file) {
  const parts = existsSync(join(ROOT, 'examples')) ? PARTS.map((each) => join(ROOT, each)) : [LAB];
  const files = new Set([resolve(file), ...parts.flatMap(filesOf)]);
  return Object.fromEntries([...files].map((path) => [relative(ROOT, path), hashOf(path)]));
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.test(entry.name)) return [];
    const inner = join(path, entry.name);
    if (entry.isDirectory()) return filesOf(inner);
    return entry.isFile() && CODE.test(entry.name) ? [inner] : [];
  });
}

const hashOf = (path) =>
  createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 12);
