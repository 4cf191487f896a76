/** The packages that know what objects of Kubernetes look like: their own checks, and their types. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folder, root } from './files.js';

/** The module that has a kind, by apiVersion; null where no package does. */
const MODULES = {
  v1: 'kubernetes-models/v1',
  'cloud.google.com/v1': '@kubernetes-models/gke/cloud.google.com/v1',
  'networking.gke.io/v1': '@kubernetes-models/gke/networking.gke.io/v1',
  'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
  'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
  'monitoring.googleapis.com/v1': null,
};

/** The module of an object; null where there is none. */
export const moduleOf = ({ apiVersion }) =>
  apiVersion in MODULES ? MODULES[apiVersion] : `kubernetes-models/${apiVersion}`;

/** @throws {Error} that names the place and what is wrong: a value of another type, what is missing */
export async function validate(object) {
  const { [object.kind]: Model } = await import(`${moduleOf(object)}/${object.kind}`);
  new Model(object).validate();
}

/**
 * What the compiler says of objects as literals of their types: the checks above pass over keys that are not known.
 *
 * @param {object[]} objects
 * @returns {Promise<string>} a line for each fault
 */
export async function typeFaults(objects) {
  // Where the packages are found.
  const place = join(folder, `build/${process.pid}`);
  const source = objects.flatMap((object, i) => {
    const { apiVersion, kind, ...rest } = object;
    return [
      `import type { ${kind} as Kind${i} } from '${moduleOf(object)}/${kind}';`,
      `export const object${i}: ConstructorParameters<typeof Kind${i}>[0] = ${JSON.stringify(rest, null, 1)};`,
    ];
  });
  mkdirSync(place, { recursive: true });
  try {
    writeFileSync(join(place, 'objects.ts'), source.join('\n'));
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--types',
      '',
      '--moduleResolution',
      'bundler',
      '--module',
      'esnext',
    ];
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, [...flags, 'objects.ts'], {
      cwd: place,
    }).catch((error) => error);
    return stdout;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
