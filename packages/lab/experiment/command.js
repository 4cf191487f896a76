import { LabError } from '../load/errors.js';
import { readExperimentArgs } from './args.js';
import { loadExperiment } from './files.js';
import { loads } from './loads/index.js';
import { USAGE } from './options.js';
import { LARGEST } from './plan.js';
import { measureOnTerminal } from './terminal.js';

/** Keys of a load that the command line changes, by option. */
const OF_LOAD = { duration: 'seconds', connections: 'connections' };

/**
 * The command `experiment`: runs one that is kept in a file, and ends the process.
 *
 * @param {string[]} argv
 * @param {string} [command] what it was called by
 * @returns {Promise<never>}
 */
export const experimentCommand = (argv, command = 'millrace experiment') =>
  measureOnTerminal(argv, { command, usage: USAGE, read: readExperimentArgs, prepare });

async function prepare(options) {
  const { name, size, rounds } = options;
  if (name === undefined) {
    console.log(USAGE);
    return null;
  }
  const experiment = changed(await loadExperiment(name), options);
  const isShort = size !== LARGEST || rounds !== undefined;
  return { experiment, hint: isShort ? '' : '; --size quick makes fewer and shorter ones' };
}

/** A file's experiment with the times of the command line. */
function changed(experiment, options) {
  const changes = {};
  for (const [name, key] of Object.entries(OF_LOAD)) {
    if (options[name] === undefined) continue;
    const { kind } = experiment.load;
    if (!Object.hasOwn(loads[kind].form, `${key}?`)) {
      const message = `--${name} cannot be combined with ${experiment.name}: its load (${kind}) has no such key`;
      throw new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
    }
    changes[key] = options[name];
  }
  return { ...experiment, load: { ...experiment.load, ...changes } };
}
