/** A reporter of mocha: one line of JSON for each test that ended, named by the path to it, in the file of the option `report`. */
const { openSync, writeSync } = require('node:fs');

module.exports = class Reporter {
  constructor(runner, { reporterOptions }) {
    const fd = openSync(reporterOptions.report, 'w');
    for (const [event, outcome] of [
      ['pass', 'passed'],
      ['fail', 'failed'],
      ['pending', 'skipped'],
    ]) {
      runner.on(event, (test, error) => {
        writeSync(fd, `${JSON.stringify({ name: test.titlePath().join(' > '), outcome })}\n`);
        if (error) process.stderr.write(`${error.stack}\n`);
      });
    }
  }
};
