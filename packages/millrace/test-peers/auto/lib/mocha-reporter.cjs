/**
 * A reporter of mocha: one line of JSON for each test that ended, named by the path to it, in the file of the option `report`. A test that
 * fails after it has passed has two lines of one `id`.
 */
const { openSync, writeSync } = require('node:fs');

module.exports = class Reporter {
  constructor(runner, { reporterOptions }) {
    const fd = openSync(reporterOptions.report, 'w');
    const ids = new Map();
    for (const [event, outcome] of [
      ['pass', 'passed'],
      ['fail', 'failed'],
      ['pending', 'skipped'],
    ]) {
      runner.on(event, (test, error) => {
        if (!ids.has(test)) ids.set(test, ids.size);
        const name = test.titlePath().join(' > ');
        writeSync(fd, `${JSON.stringify({ id: ids.get(test), name, outcome })}\n`);
        if (error) process.stderr.write(`${error.stack}\n`);
      });
    }
  }
};
