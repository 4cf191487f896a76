/** Runs the program that follows in the arguments, as Node.js does, once the features of auto are active. */
const { runMain } = require('node:module');
const { resolve } = require('node:path');

import('./warm.mjs').then(() => {
  process.argv.splice(1, 2, resolve(process.argv[2]));
  runMain();
});
