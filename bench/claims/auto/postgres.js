import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LabError } from '@millrace/lab/experiment';
import { freePort } from '@millrace/lab/run';

const KEEPER = fileURLToPath(new URL('./keep-postgres.js', import.meta.url));

const port = await freePort();
let ready = null;

/**
 * Starts a PostgreSQL server with a table `users`, once. A program of its own keeps it, and ends it with this process, which neither keeps alive. It
 * is no child of the server that is measured: its CPU time is not in the figures.
 *
 * @returns {string} its port, where nothing answers before `postgresReady()` has
 */
export function startPostgres() {
  ready ??= started();
  // The load of the first run reports it.
  ready.catch(() => {});
  return `${port}`;
}

/** @throws {LabError} `MILLRACE_LAB_E_SERVER` when it cannot be started */
export async function postgresReady() {
  await ready;
}

async function started() {
  // Ctrl-C is not for it: it has to take the server down first.
  const keeper = spawn(process.execPath, [KEEPER, `${port}`], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  keeper.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const first = await Promise.race([once(keeper.stdout, 'data'), once(keeper, 'close')]);
  for (const each of [keeper, keeper.stdin, keeper.stdout, keeper.stderr]) each.unref();
  if (!Buffer.isBuffer(first[0])) {
    throw new LabError('MILLRACE_LAB_E_SERVER', said.trim() || `${KEEPER} ended`);
  }
}
