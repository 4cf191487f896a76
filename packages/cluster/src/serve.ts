/** The one call: in the primary it makes the cluster, in its processes it makes the application listen. */
import cluster from 'node:cluster';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MillraceError, show } from '@millrace/base/errors';
import { packageFile } from '@millrace/base/installed';
import { isURL, otherRuntime } from '@millrace/base/realm';
import { Cluster } from './cluster.js';
import { onClose, onDrain } from './drain.js';
import { active } from './health.js';
import { type ServeOptions, type Settings, serveOptions } from './options.js';
import { thisPackage } from './package.cjs';
import { type App, type ClusterWorker, foreign, takeOrders, work } from './worker.js';

/** Program of a process that runs an application from a file. */
const program = () => packageFile(thisPackage, 'dist/program.js', 'serve() with a file');

/**
 * Serves the application in a file, in as many processes as the container has CPUs. The file is loaded in them, not in the
 * primary. Its default export is the application, or it calls `listen()` itself.
 *
 * @returns the cluster, when its processes listen
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION`; `MILLRACE_E_INVALID_ARGUMENT` for a file that is not there, or a second cluster;
 *   `MILLRACE_E_WORKER` if no process starts; `MILLRACE_E_RUNTIME` on Bun. An error of the system, as `EADDRINUSE`, if the port is not available.
 */
export function serve(file: string | URL, options?: ServeOptions): Promise<Cluster>;
/**
 * Serves an application. The file that the program was started with runs again in each process, up to this call, where the
 * application begins to listen: in the primary it resolves with a {@link Cluster}, in a process with a {@link ClusterWorker}.
 * `isPrimary` tells them apart.
 */
export function serve(app: App, options?: ServeOptions): Promise<Cluster | ClusterWorker>;
export async function serve(
  app: App | string | URL,
  options: ServeOptions = {},
): Promise<Cluster | ClusterWorker> {
  if (process.versions.bun !== undefined) {
    throw new MillraceError(
      'MILLRACE_E_RUNTIME',
      `serve() hands connections to its processes, which ${otherRuntime} cannot do; use Node.js for it`,
    );
  }
  const isFile = typeof app === 'string' || isURL(app);
  const settings = serveOptions(options, isFile);
  if (!cluster.isPrimary) return inProcess(app, settings);
  if (active.cluster !== null) throw foreign();
  const file = isFile ? fileOf(app) : null;
  if (!isFile) checkApp(app);
  const made = new Cluster(settings, file, file === null ? entry() : program());
  active.cluster = made;
  made.once('close', () => {
    active.cluster = null;
  });
  try {
    return await made.start();
  } catch (error) {
    await made.close();
    throw error;
  }
}

async function inProcess(app: unknown, { onDrain: drain, onClose: close }: Settings) {
  const orders = takeOrders();
  if (orders === null) throw foreign();
  if (drain !== null) onDrain(drain);
  if (close !== null) onClose(close);
  return work(orders, () => app);
}

function fileOf(file: string | URL): string {
  const path = isURL(file) || file.startsWith('file:') ? fileURLToPath(file) : resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `there is no file ${show(path)} to serve; give the path or URL of the file with the application`,
  );
}

/** Checks the kind of the application; the processes find out its details. */
function checkApp(app: unknown): void {
  if (typeof app === 'function' || (typeof app === 'object' && app !== null)) return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `serve() takes an application, or the path or URL of a file with one, not ${show(app)}`,
  );
}

/** Path of the file that the program was started with. */
function entry(): string {
  const [, path] = process.argv;
  if (path !== undefined) return path;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    'serve(app) runs the file that the program was started with again in each process, and there is none; give serve() the path of a file with the application',
  );
}
