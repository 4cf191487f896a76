/** Reads the files of deploy/. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

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

/** The object of this kind and name. */
export function object(kind, name) {
  const found = objects().find(
    (each) => each.object.kind === kind && each.object.metadata.name === name,
  );
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found.object;
}

/** The container of a Deployment or StatefulSet. */
export const container = (kind, name) => object(kind, name).spec.template.spec.containers[0];
