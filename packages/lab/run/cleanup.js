import { watchOutput } from '@millrace/base/command';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Work that a program has to undo before it ends: children to stop, folders to remove. Runs once, last
 * first, whichever way the program ends.
 */
export class Cleanup {
  #tasks = new Set();
  #running;
  #isExiting = false;
  #abort = new AbortController();

  /** Aborted when the program is to end early; what waits for long should listen to it. */
  get signal() {
    return this.#abort.signal;
  }

  /**
   * @param {() => unknown} task may be asynchronous
   * @returns {() => void} takes the task back
   */
  add(task) {
    this.#tasks.add(task);
    return () => this.#tasks.delete(task);
  }

  /** Runs every task to its end. An error of one is told on stderr, and the others run. */
  run() {
    this.#running ??= this.#undo();
    return this.#running;
  }

  async #undo() {
    for (const task of [...this.#tasks].reverse()) {
      try {
        await task();
      } catch (error) {
        console.error(`clean-up: ${error.message}`);
      }
    }
  }

  /** Aborts what is under way, and leaves the end to the program. */
  stop() {
    this.#abort.abort(new Error('stopped'));
  }

  /** Ends the program: aborts what is under way, cleans up, exits. Calls after the first do nothing. */
  async exit(code) {
    if (this.#isExiting) return;
    this.#isExiting = true;
    this.stop();
    await this.run();
    // What was written has either left or failed then.
    await new Promise((resolve) => setImmediate(resolve));
    process.exit(code);
  }

  /**
   * Cleans up and exits at a signal, or at an error that nobody has caught.
   *
   * @param {(error: unknown) => void} [tell] is given the error
   * @param {(code: number) => void} [onSignal] is given the exit code of a signal, in place of exiting with it
   */
  watch(tell = console.error, onSignal = (code) => this.exit(code)) {
    for (const [signal, code] of Object.entries(EXIT_CODES)) {
      // The listener stays, so that a second signal changes nothing.
      process.on(signal, () => onSignal(code));
    }
    process.on('uncaughtException', (error) => {
      // Nobody is left to be told.
      if (error.code !== 'EPIPE' && error.code !== 'EIO') tell(error);
      this.exit(1);
    });
  }
}

/**
 * Handles the signals of a program of the lab. The first signal ends the measuring, and the program keeps what there is; the
 * second ends the program at once, with its servers. Who reads the output may go before (`| head -1`): the program goes on.
 *
 * @param {Cleanup} cleanup
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
