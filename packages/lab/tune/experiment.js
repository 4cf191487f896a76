/** Tuning as an experiment: the command as it is is the control, and with each switch it is a treatment. */
import { loadOf } from '../compare/experiment.js';
import { metricsOf } from '../compare/metrics.js';
import { readExperiment } from '../experiment/format.js';
import { SIZES } from '../experiment/plan.js';
import { LabError } from '../load/errors.js';
import { startServer } from '../run/server.js';
import { freePort } from '../run/up.js';
import { conclusion } from './conclusion.js';
import { CONNECTIONS, DURATION_S, ROUNDS, WARMUP_S } from './options.js';
import { switchesFor } from './switches.js';

/**
 * Starts the server once with each switch before anything is measured: one with which it does not start is left out, with what it said.
 *
 * @param {import('./args.js').Options} options
 * @param {{ cleanup: import('../run/cleanup.js').Cleanup }} on
 * @returns {Promise<import('../experiment/terminal.js').Prepared>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when the command as it is does not start; `MILLRACE_LAB_E_INVALID_OPTION` when no switch is left
 */
export async function tuningOf(options, { cleanup }) {
  const port = await freePort();
  const fill = (text) => text.replaceAll('{port}', `${port}`);
  const { health, rate, rounds = ROUNDS, command } = options;
  const arm = (name, env) => ({
    name,
    command: ['sh', '-c', fill(command)],
    url: fill(options.url[0]),
    ...(health && { health: fill(health) }),
    ...(env && { env }),
  });
  const control = arm('as it is');
  await check(control, cleanup);
  const { switches, untried } = switchesFor(options);
  const tried = [];
  for (const each of switches) {
    try {
      await check(arm(each.name, each.env), cleanup);
      tried.push(each);
    } catch (error) {
      if (!(error instanceof LabError)) throw error;
      untried.unshift(error.message);
    }
  }
  if (tried.length === 0) {
    throw new LabError(
      'MILLRACE_LAB_E_INVALID_OPTION',
      `there is no switch left to try. Not tried: ${untried.join('; ')}`,
    );
  }
  const experiment = readExperiment(
    {
      question: 'Which switch makes the server better?',
      about: `Command: ${command}\nNot tried: ${untried.join('; ')}.`,
      control: { ...control, isOn: () => false },
      // What a switch does is not for the lab to see; that it is set, it knows.
      treatment: tried.map(({ name, env }) => ({ ...arm(name, env), isOn: () => true })),
      // As it will run later: more threads, or processes, are worth nothing on one core.
      load: { ...loadOf(withDefaults(options), fill), pin: false },
      metrics: metricsOf({ isOpen: rate !== undefined, isMessages: false }),
      rounds: Object.fromEntries(SIZES.map((size) => [size, rounds])),
      family: 'arms',
      notes: (results) => conclusion(results, { command, switches: tried }),
    },
    'tune',
  );
  return { experiment, hint: '; fewer switches: --only, fewer rounds: -n', adviceOf };
}

const withDefaults = ({ duration = DURATION_S, warmup = WARMUP_S, ...options }) => ({
  ...options,
  ...{ duration, warmup, connections: options.connections ?? CONNECTIONS },
});

async function check(arm, cleanup) {
  const server = await startServer({ ...arm, cleanup });
  await server.stop();
}

/** The way out of a refusal, in terms of the command line. */
function adviceOf({ kind, advice }) {
  if (kind === 'saturated') {
    return 'Ask for less (-R for a rate, fewer -c), so that the server is what is measured';
  }
  if (kind !== 'unequal') return advice;
  return 'A switch must not change what the server answers: leave it out (--without NAME), or leave what differs from run to run out of the comparison (--ignore REGEX)';
}
