/**
 * Required in each process and thread that a test starts, but for those of the plain arm: at its exit, adds a line to the file
 * MILLRACE_SEEN with the states of auto's features there.
 */
const { appendFileSync } = require('node:fs');

const path = process.env.MILLRACE_SEEN;
process.on('exit', () => {
  const { features = {} } = process[Symbol.for('millrace.auto')] ?? {};
  const states = Object.values(features).map(({ name, state }) => [name, state]);
  try {
    appendFileSync(path, `${JSON.stringify(Object.fromEntries(states))}\n`);
  } catch {
    // The permission model, or a limit that the test has set.
  }
});
