import { measureOnTerminal } from '../experiment/terminal.js';
import { readCompareArgs } from './args.js';
import { experimentOf } from './experiment.js';
import { USAGE } from './options.js';

/**
 * The command `compare`: measures two commands against each other, and ends the process.
 *
 * @param {string[]} argv
 * @param {string} [command] what it was called by
 * @returns {Promise<never>}
 */
export const compareCommand = (argv, command = 'millrace compare') =>
  measureOnTerminal(argv, {
    ...{ command, usage: USAGE },
    read: readCompareArgs,
    prepare: experimentOf,
  });
