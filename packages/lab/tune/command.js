import { measureOnTerminal } from '../experiment/terminal.js';
import { readTuneArgs } from './args.js';
import { tuningOf } from './experiment.js';
import { USAGE } from './options.js';

/**
 * The command `tune`: tries switches on a server, and ends the process.
 *
 * @param {string[]} argv
 * @param {string} [command] its name on the command line
 * @returns {Promise<never>}
 */
export const tuneCommand = (argv, command = 'millrace tune') =>
  measureOnTerminal(argv, {
    ...{ command, usage: USAGE },
    read: readTuneArgs,
    prepare: tuningOf,
  });
