import { watchOutput } from '@millrace/base/command';

/**
 * How a program of the lab is asked to end. The first signal ends the measuring, and the program keeps what there is; the
 * second ends the program at once, with its servers. Who reads the output may go before (`| head -1`): the program goes on.
 *
 * @param {import('../run/cleanup.js').Cleanup} cleanup
 * @param {(error: unknown) => void} tell of an error that nobody has caught
 * @returns {{ code: number }} of the first signal, for the end: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP; 0 without one
 */
export function watchSignals(cleanup, tell) {
  const ended = { code: 0 };
  watchOutput();
  // Nobody is left to be told.
  process.stderr.on('error', () => {});
  cleanup.watch(tell, (code) => {
    if (ended.code !== 0) return cleanup.exit(code);
    ended.code = code;
    cleanup.stop();
  });
  return ended;
}
