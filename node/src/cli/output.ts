/** Standard output of a command. */

let isWatched = false;
let hasFailed = false;

/** Writes lines to stdout. What cannot be written is one sentence on stderr, and the exit code 1 instead of 0. */
export function print(text: string): void {
  if (!isWatched) watch();
  console.log(text);
}

/** Not earlier: an application that shares stdout with this process may be started instead. */
function watch(): void {
  isWatched = true;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader, such as head, has all that it wanted.
    if (code === 'EPIPE' || hasFailed) return;
    hasFailed = true;
    console.error(`millrace: stdout cannot be written: ${message}.`);
  });
  process.on('exit', (code) => {
    if (hasFailed && code === 0) process.exitCode = 1;
  });
}
