/** A child made with fork() does the work. */
const { fork } = require('node:child_process');

fork(`${__dirname}/module.mjs`);
