/**
 * The journal of an experiment that takes hours: each round is kept as soon as it has ended, so that Ctrl-C, a kill or a power cut
 * costs the round that was under way and no other. One JSON object a line: the head says what is measured, by which code and on which
 * machine; then the rounds in the order in which they were made, and a line for each time that the run was gone on with.
 *
 * A run is gone on with only by the same code and settings on the same machine: rounds of different ones are not one sample. The
 * journal replays what it has, and the order of the arms comes from the seed, so that a run in ten parts has the rounds that
 * a run without a break has. A line that was not written to its end is dropped. The journal is removed once the results are kept.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LabError } from '../load/errors.js';
import { countedRuns } from './gather.js';
import { makeFolder } from './outlets.js';

const FORMAT = 1;

/** So many files that differ are named. */
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
    const journal = new Journal(pathOf(folder, head.experiment, new Date()));
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
   * Goes on with it.
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

const pathOf = (folder, experiment, date) =>
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
