/** Builds the addon of millrace, if anything that it is made of has changed. */
import { addon } from './lib/addon.js';
import { tools } from './lib/setup.js';
import { runOrExit } from './lib/steps.js';

await runOrExit([tools('make', 'cc', 'python3'), addon]);
