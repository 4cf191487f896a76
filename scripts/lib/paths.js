import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the project. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Packages in TypeScript, each after its dependencies; the lab is not among them. */
export const typed = ['base', 'monitor', 'guard', 'pool', 'cluster', 'millrace', 'nats'];

/** Folder that the scripts keep between runs: logs and stamps. Ignored by git, removed by `make clean`. */
export const projectCache = join(root, '.cache');

/**
 * Cache that outlives a working copy: unpacked Debian packages. Root's home is closed to the user that
 * a server must run as, so root has another place.
 */
export const userCache = join(
  process.env.XDG_CACHE_HOME ||
    (process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache')),
  'millrace',
);

/** The text of a file, named relative to the root. */
export const read = (path) => readFileSync(join(root, path), 'utf8');
