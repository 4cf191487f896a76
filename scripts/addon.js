/** Builds the addon of millrace, if anything that it is made of has changed. */
import { addon, tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

await runOrExit([tools('make', 'cc'), addon]);
