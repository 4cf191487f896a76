/** Errors of stdout. */
let isWatched = false;

/**
 * From now on what a program cannot write to stdout is one sentence on stderr, and the exit code 1 instead of 0. A reader that has gone, such as
 * `head`, had all that it wanted: nothing is said.
 */
export function watchOutput() {
  if (isWatched) return;
  isWatched = true;
  let hasFailed = false;
  process.stdout.on('error', ({ code, message }) => {
    if (code === 'EPIPE' || hasFailed) return;
    hasFailed = true;
    console.error(`Failed: stdout cannot be written: ${message}.`);
  });
  process.on('exit', (code) => {
    if (hasFailed && code === 0) process.exitCode = 1;
  });
}

/** Resolves when what was written has either left or failed. */
export const outputSettled = () => new Promise((resolve) => setImmediate(resolve));
