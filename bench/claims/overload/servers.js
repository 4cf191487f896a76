/** The servers of examples/overload as arms: each the same application, protected in another way. */
import { iterationsFor } from '../../../examples/overload/servers/work.js';
import { HANDLER_MS } from '../../../examples/overload/settings.js';
import { commandOf } from '../lib/program.js';

const PROGRAM = new URL('./program.js', import.meta.url);

let iterations;

/** A server has refused something, or answered with a copy: no other does. */
const isOn = ({ values }) => values.refused_per_s > 0 || values.copies_per_s > 0;

/**
 * The work of a request is of the same size in all arms and rounds: measured once, when it is first asked for.
 *
 * @param {string} name for people
 * @param {string} server of examples/overload/servers
 */
export const serverArm = (name, server) => ({
  name,
  command(params) {
    iterations ??= iterationsFor(HANDLER_MS);
    return commandOf(PROGRAM, server)({ ...params, iterations });
  },
  isOn,
});

/** 50 clients that ask again as soon as they are answered, as in the article; or this many times what one server can do. */
export const cases = [
  { label: '50 clients', clients: 50 },
  { label: '1.5 times the capacity', times: 1.5, from: 'paper' },
  { label: '10 times the capacity', times: 10, from: 'paper' },
];

const value = (name) => (run) => run.values[name];

/** So little counts for none, in all arms, so that there is a ratio: it is then less than the truth. */
const atLeast = (least, name) => (run) => {
  const measured = run.values[name];
  return measured === null ? null : Math.max(least, measured);
};
const perS = { unit: '1/s', better: 'higher' };
const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  {
    ...perS,
    name: 'good_per_s',
    title: 'good answers: 200 within 500 ms, 0.5 for none',
    of: atLeast(0.5, 'good_per_s'),
  },
  { ...perS, name: 'ok_per_s', title: 'all 200s', of: value('ok_per_s') },
  { ...perS, name: 'fresh_per_s', title: 'good answers without copies', of: value('fresh_per_s') },
  {
    ...perS,
    name: 'requests_per_s',
    title: 'requests that ended',
    of: value('requests_per_s'),
  },
  { ...ms, name: 'ok_p50_ms', title: 'latency of the 200s, median', of: value('ok_p50_ms') },
  {
    name: 'failed_share',
    title: 'requests given up or broken off, share',
    unit: '',
    better: 'lower',
    of: value('failed_share'),
  },
  {
    name: 'high_success',
    title: 'checkouts with a good answer, share, 0.01 for none',
    unit: '',
    better: 'higher',
    of: atLeast(0.01, 'high_success'),
  },
  {
    name: 'high_missed_share',
    title: 'checkouts without a good answer, share',
    unit: '',
    better: 'lower',
    of: ({ values }) => (values.high_success === null ? null : 1 - values.high_success),
  },
  {
    name: 'health_failed_share',
    title: '/health without a 200, share',
    unit: '',
    better: 'lower',
    of: value('health_failed_share'),
  },
  {
    name: 'crashes',
    title: 'servers that ended by themselves',
    unit: '',
    better: 'lower',
    of: value('crashes'),
  },
];
