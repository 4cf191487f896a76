/**
 * A step that runs one command and passes when it exits with code 0.
 *
 * @param {string} title
 * @param {string} line the command and its arguments, parted by blanks
 * @returns {import('./steps.js').Step}
 */
export function command(title, line) {
  const [path, ...args] = line.split(' ');
  return { title, run: (quiet) => quiet(path, args) };
}
