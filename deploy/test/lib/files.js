/** Reads the files of deploy/. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { which } from '../../../scripts/lib/which.js';

export const folder = fileURLToPath(new URL('../../', import.meta.url));
export const root = fileURLToPath(new URL('../../../', import.meta.url));

/** @param {string} path in deploy/ */
export const read = (path) => readFileSync(folder + path, 'utf8');

/** The paths in a folder of deploy/, and in those inside of it, that end so. */
export const list = (path, end) =>
  readdirSync(folder + path, { recursive: true })
    .filter((each) => each.endsWith(end))
    .map((each) => `${path}/${each}`)
    .sort();

/** All documents of a file of YAML. @throws {Error} for what is none, and for a key that comes twice */
export const documents = (path) =>
  parseAllDocuments(read(path), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0].message}`);
    return document.toJS();
  });

/** The only document of a file. */
export function yaml(path) {
  const [value, ...others] = documents(path);
  if (others.length > 0) throw new Error(`${path} has several documents`);
  return value;
}

/** Every object for Kubernetes, with the file that it is in. */
export const objects = () =>
  list('kubernetes', '.yaml')
    .filter((path) => !/(kustomization|values)\.yaml$/.test(path))
    .flatMap((path) => documents(path).map((object) => ({ path, object })));

/** The object of this kind and name, in this folder of kubernetes/ if there are several. */
export function object(kind, name, place = '') {
  const found = objects().filter(
    (each) =>
      each.object.kind === kind &&
      each.object.metadata.name === name &&
      each.path.startsWith(`kubernetes/${place}`),
  );
  if (found.length !== 1) throw new Error(`there are ${found.length} of ${kind} ${name}`);
  return found[0].object;
}

/** Objects as `kubectl kustomize` makes them of a folder of kubernetes/; null where kubectl is not installed. */
export function built(name) {
  if (!which('kubectl')) return null;
  const text = execFileSync('kubectl', ['kustomize', join(folder, 'kubernetes', name)], {
    encoding: 'utf8',
  });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** The container of a Deployment or StatefulSet. */
export const container = (kind, name) => object(kind, name).spec.template.spec.containers[0];
