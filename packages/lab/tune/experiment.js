/** Tuning as an experiment: the unchanged command is the control, and the command with one switch is a treatment. */
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
 * Starts the server once with each switch before the measurement. Leaves out a switch with which it does not start, and reports its output.
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
      // The lab cannot verify the effect of a switch, only that it is set.
      treatment: tried.map(({ name, env }) => ({ ...arm(name, env), isOn: () => true })),
      // All cores, as in later use: on one core more threads or processes have no value.
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

/** Returns the remedy for a refusal, as options of the command line. */
function adviceOf({ kind, advice }) {
  if (kind === 'saturated') {
    return 'Ask for less (-R for a rate, fewer -c), so that the server is what is measured';
  }
  if (kind !== 'unequal') return advice;
  return 'A switch must not change what the server answers: leave it out (--without NAME), or leave what differs from run to run out of the comparison (--ignore REGEX)';
}
