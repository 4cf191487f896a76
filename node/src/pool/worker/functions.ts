/** Functions by which a worker runs tasks: exports of files, loaded once. */
import { pathToFileURL } from 'node:url';
import type { TaskContext } from './context.js';

export type Handler = (task: unknown, context: TaskContext) => unknown;

/** An ES module's export; or one of `module.exports`, which Node.js puts into `default`, and a compiler's `default` into that. Each may be a promise. */
export async function load(filename: string, name: string): Promise<Handler> {
  const module = await import(pathToFileURL(filename).href);
  const exported = await module.default;
  const candidates =
    name === 'default' ? [exported, exported?.default] : [module[name], exported?.[name]];
  for (const candidate of candidates) {
    const handler = await candidate;
    if (typeof handler === 'function') return handler;
  }
  throw new Error(`${filename} exports no function '${name}'${exportsOf(module, exported)}`);
}

function exportsOf(module: object, exported: unknown): string {
  const names = new Set(
    [...functionsIn(module), ...functionsIn(exported)].filter((name) => name !== 'module.exports'),
  );
  return names.size === 0
    ? ', nor any other'
    : `; it exports ${[...names].slice(0, 20).join(', ')}`;
}

function functionsIn(value: unknown): string[] {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return [];
  const entries = value as Record<string, unknown>;
  return Object.keys(entries).filter((name) => typeof entries[name] === 'function');
}
