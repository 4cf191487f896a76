/** Required in each process and thread that a test starts: at its exit, adds a line to the file MILLRACE_SEEN about auto there. */
const { appendFileSync } = require('node:fs');

const path = process.env.MILLRACE_SEEN;
process.on('exit', () => {
  const { features = {} } = process[Symbol.for('millrace.auto')] ?? {};
  const states = Object.values(features).map(({ name, state }) => [name, state]);
  appendFileSync(path, `${JSON.stringify(Object.fromEntries(states))}\n`);
});
