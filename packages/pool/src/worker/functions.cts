/** Functions by which a worker runs tasks: exports of files, loaded once. */
import { builtin } from '@millrace/base/realm';
import { anyFunction } from '../protocol.cjs';

const { extname } = builtin('node:path');
const { pathToFileURL } = builtin('node:url');

/** Second argument of a task's function. */
export interface TaskContext {
  /**
   * Signal that is aborted with the caller's signal, or after the task's `timeout`. A function that has read it, or
   * `aborted`, gets `abortGrace` ms to end; otherwise its worker is ended, as nothing else stops it.
   */
  readonly signal: AbortSignal;
  /** State of the signal as a flag in shared memory: it changes in the middle of a synchronous loop, too. */
  readonly aborted: boolean;
  /** Number of earlier runs on a worker that ended; 0 at first. */
  readonly attempt: number;
  /** `id` of the call; null if it has none. For a durable task its id, the same in each run. */
  readonly id: string | null;
  /**
   * `delivery` of the call, or `attempt` + 1. For a durable task its deliveries to a worker, this one included: above 1 it
   * may have run before.
   */
  readonly delivery: number;
}

export type Handler = (task: unknown, context: TaskContext) => unknown;

/** An ES module's export; or one of `module.exports`, which Node.js puts into `default`, and a compiler's `default` into that. Each may be a promise. */
export async function load(filename: string, name: string): Promise<Handler> {
  const module = await moduleOf(filename);
  const exported = await module.default;
  if (name === anyFunction) {
    if (typeof exported === 'function' || namesIn(module, exported).size > 0) return () => {};
    throw new Error('it exports no function');
  }
  const candidates =
    name === 'default'
      ? [exported, exported?.default]
      : [exportOf(module, name), exportOf(exported, name)];
  for (const candidate of candidates) {
    const handler = await candidate;
    if (typeof handler === 'function') return handler;
  }
  throw new Error(`it exports no '${name}', ${othersOf(module, exported)}`);
}

/**
 * Returns an export of a module. Properties of every function or object do not count: `constructor`, for one, makes functions
 * out of text.
 */
function exportOf(module: any, name: string): unknown {
  if (module == null || (name in Function.prototype && !Object.hasOwn(module, name))) return;
  return module[name];
}

/** Node.js loads these; other kinds a compiler knows, which in a worker may have taught them only to `require()`. */
const ownKinds = new Set(['', '.js', '.mjs', '.cjs', '.json', '.node']);
const onlyImported = new Set(['ERR_REQUIRE_ESM', 'ERR_REQUIRE_ASYNC_MODULE']);

async function moduleOf(filename: string): Promise<Record<string, any>> {
  const kind = extname(filename);
  if (!ownKinds.has(kind) && kind in require.extensions) {
    try {
      return { default: require(filename) };
    } catch (error) {
      if (!onlyImported.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return import(pathToFileURL(filename).href);
}

function othersOf(module: object, exported: unknown): string {
  const names = namesIn(module, exported);
  return names.size === 0
    ? 'nor any other function'
    : `only ${[...names].slice(0, 20).join(', ')}; \`name\` says which is meant`;
}

function namesIn(module: object, exported: unknown): Set<string> {
  const names = [...functionsIn(module), ...functionsIn(exported)];
  return new Set(names.filter((name) => name !== 'module.exports'));
}

function functionsIn(value: unknown): string[] {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return [];
  const entries = value as Record<string, unknown>;
  return Object.keys(entries).filter((name) => typeof entries[name] === 'function');
}
