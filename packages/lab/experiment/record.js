/** What a result says of the load and of the programs that took part. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * The load as it was in each case: what a reader has to know to repeat it.
 *
 * @param {import('./format.js').Load} load
 * @param {import('./format.js').Params[]} params of the first round of each case
 * @returns {{ kind: string, cases: Record<string, unknown>[] }} of each case its label as `case`, and the keys of the load
 *   that are texts, numbers or flags, or lists of them; of a list of requests their paths
 */
export function loadRecord({ kind, pin, timeoutS, ...keys }, params) {
  const cases = params.map((at) => {
    const settled = Object.entries(keys).map(([key, value]) => [key, kept(value, at)]);
    return {
      case: at.label,
      ...Object.fromEntries(settled.filter(([, value]) => value !== undefined)),
    };
  });
  return { kind, cases };
}

function kept(value, params) {
  try {
    const settled = typeof value === 'function' ? value(params) : value;
    if (!Array.isArray(settled)) return isScalar(settled) ? settled : undefined;
    const list = settled.map((each) => each?.path ?? each).filter(isScalar);
    return list.length > 0 ? [...new Set(list)] : undefined;
  } catch {
    // It is told where the load itself asks for it.
    return undefined;
  }
}

const isScalar = (value) => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * The versions of what took part; those that cannot be told are left out.
 *
 * @param {import('./measure.js').Run[]} runs
 * @returns {Record<'lab' | 'millrace' | 'autocannon' | 'node', string>} `millrace` as it is found from the working
 *   directory, else from the lab; `node` that of the servers, by their probes
 */
export function versionsOf(runs) {
  const nodes = [...new Set(runs.map(({ probe }) => probe?.node).filter(Boolean))];
  const versions = {
    lab: versionIn(new URL('../package.json', import.meta.url)),
    millrace: versionOf('millrace', join(process.cwd(), 'x'), import.meta.url),
    autocannon: versionOf('autocannon', import.meta.url),
    node: nodes.length > 0 ? nodes.join(', ') : undefined,
  };
  return Object.fromEntries(Object.entries(versions).filter(([, version]) => version));
}

function versionOf(name, ...places) {
  for (const place of places) {
    try {
      return versionIn(createRequire(place).resolve(`${name}/package.json`));
    } catch {}
  }
  return undefined;
}

const versionIn = (file) => JSON.parse(readFileSync(file, 'utf8')).version;
