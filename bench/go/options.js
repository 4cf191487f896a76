/** Options of `make bench NAME=go`, from the environment. A value that cannot be meant is refused, with the values that can. */
import { Refused } from '../lib/refused.js';

const unitSeconds = { s: 1, m: 60, h: 3600 };
const LONGEST_HOURS = 168;
/** Tasks a second of a long run: the report asks for 100,000 to a million. */
const usualRate = 100_000;
const FASTEST = 100e6;

/**
 * @typedef {object} Options
 * @property {string | null} only name of the case that is to be run
 * @property {string[] | null} arms that are to be run; null: all
 * @property {{ seconds: number, rate: number } | null} stability a long run
 * @property {string | null} tables a file whose tables are to be printed, `kept`: those of the run in the repository
 * @property {boolean} showsTables after a run
 * @property {boolean} isKept
 */

/**
 * @param {Record<string, string | undefined>} env
 * @param {string[]} names of the cases
 * @returns {Options}
 * @throws {Refused}
 */
export function optionsFrom(env, names) {
  const { CASE: only, ARMS: arms, STABILITY: long, RATE: rate, TABLE: table } = env;
  const isKept = Boolean(env.SAVE);
  if (only && !names.includes(only)) {
    throw new Refused(`CASE is '${only}'; there are ${names.join(', ')}`);
  }
  if (rate && !long) throw new Refused('RATE is of a long run: give STABILITY=1h as well');
  if (long && only && only !== 'Stability') {
    throw new Refused(`STABILITY is a run of its own; leave out CASE=${only}`);
  }
  if (only === 'Stability' && arms) throw new Refused('Stability has no ARMS: it is of millrace');
  if (arms && isKept) throw new Refused('SAVE=1 keeps all arms of a case; leave out ARMS');
  const isRun = Boolean(only || env.QUICK || isKept || long);
  return {
    only: only || null,
    arms: arms ? arms.split(',').map((arm) => arm.trim()) : null,
    stability: long ? { seconds: secondsOf(long), rate: rateOf(rate) } : null,
    tables: table?.endsWith('.json') ? table : table && !isRun ? 'kept' : null,
    showsTables: Boolean(table),
    isKept,
  };
}

/** The arms of a case that are asked for. */
export function chosenArms(name, listed, asked) {
  const strange = asked?.filter((arm) => !listed.includes(arm)) ?? [];
  if (strange.length > 0) {
    const some = strange.map((arm) => `'${arm}'`).join(', ');
    throw new Refused(`ARMS has ${some}; ${name} has ${listed.join(', ')}`);
  }
  return asked ?? listed;
}

function secondsOf(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smh])$/.exec(text) ?? [];
  const seconds = Number(number) * unitSeconds[unit];
  if (seconds > 0 && seconds <= LONGEST_HOURS * 3600) return seconds;
  const range = `more than 0 and at most ${LONGEST_HOURS}h`;
  throw new Refused(`STABILITY is '${text}'; it must be a time such as 90s, 10m or 24h, ${range}`);
}

function rateOf(text) {
  if (text === undefined || text === '') return usualRate;
  const rate = Number(text);
  if (rate > 0 && rate <= FASTEST) return rate;
  const range = `more than 0 and at most ${FASTEST.toLocaleString('en-US')}`;
  throw new Refused(`RATE is '${text}'; it must be a number of tasks a second, ${range}`);
}
