// Not imported: what is for `import` awaits at the top, which CommonJS cannot.
const { features } = require('millrace/auto');
const fs = require('node:fs');
const { autoRun } = require('./auto-run.mjs');
const { main } = require('../../../../scripts/lib/bundled/main.mjs');

main(() => autoRun(fs, features));
