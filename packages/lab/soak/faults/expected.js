/** What the service is known to write on stderr when it is started, and when faults happen to it. */
const KNOWN = [
  /^millrace: the dashboard is at http:/,
  /^millrace.*: process \d+ .*(SIGKILL|killed)/,
];

/** @param {string[]} lines @returns {string[]} those that nobody expects */
export const unexpected = (lines) =>
  lines.filter((line) => !KNOWN.some((known) => known.test(line)));
