/** Runs commands, and says what they wrote when they fail. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<string>} what it wrote on stdout, without blanks at its ends
 * @throws {Error} with the last lines that it wrote, or that it is not there
 */
export async function command(program, args) {
  try {
    const { stdout } = await run(program, args, { maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`there is no ${program}; install it`);
    const words = `${error.stdout ?? ''}\n${error.stderr ?? ''}`.trim().slice(-2000);
    throw new Error(`${program} ${args[0]} failed: ${words || error.message}`);
  }
}
