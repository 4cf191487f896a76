import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../packages/lab/run/up.js';
import { find } from '../debian.js';

const run = promisify(execFile);

/** The folder with initdb and pg_ctl, or undefined: then PostgreSQL is not installed. */
export const findPostgres = () => find('pg_ctl') && dirname(find('pg_ctl'));

/** Tries to start on a free port: another program may take it first. */
const mostStarts = 5;

/** A PostgreSQL server of its own in a temporary folder, which the functions of the result act on. Without a port it listens on a free one. */
export async function startPostgres(bin, given, tries = mostStarts) {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  // initdb refuses to run as root.
  const user = process.getuid() === 0 ? unprivilegedUser() : {};
  if (user.uid !== undefined) chownSync(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const port = given ?? (await freePort());
  const options = { cwd: dir, env: { PATH: process.env.PATH, LC_ALL: 'C' }, ...user };
  const settings = [
    `-p ${port}`,
    '-c listen_addresses=127.0.0.1',
    '-c unix_socket_directories=',
    '-c fsync=off',
    '-c shared_buffers=16MB',
  ].join(' ');

  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'chat', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    options,
  );
  const control = (...args) => {
    // The server would inherit pipes and keep them open.
    const child = spawn(join(bin, 'pg_ctl'), ['-D', data, '-w', '-t', '600', ...args], {
      ...options,
      stdio: 'ignore',
    });
    return once(child, 'exit').then(([code]) => {
      if (code !== 0)
        throw new Error(`pg_ctl ${args.join(' ')} ended with ${code}; see ${dir}/log`);
    });
  };
  const server = {
    url: `postgres://chat@127.0.0.1:${port}/postgres`,
    start: () => control('-l', join(dir, 'log'), '-o', settings, 'start'),
    stop: () => control('-m', 'fast', 'stop'),
    /** Ends it as a crash would: connections break, and the next start recovers. */
    crash: () => control('-m', 'immediate', 'stop'),
    async remove() {
      await server.stop().catch(() => {});
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await server.start();
  } catch (error) {
    await server.remove();
    if (given === undefined && tries > 1) return startPostgres(bin, given, tries - 1);
    throw error;
  }
  return server;
}

function unprivilegedUser() {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // Not on this machine; try the next.
    }
  }
  throw new Error(
    'neither the user postgres nor nobody exists, and PostgreSQL does not run as root',
  );
}
