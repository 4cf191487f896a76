import { read, typed } from './paths.js';

/** Returns the version of each part of the project, by the file that states it. All are equal: one release has them all. */
export function versions() {
  const json = (path) => [path, JSON.parse(read(path)).version];
  const number = (name) =>
    new RegExp(`^#define UV_BATCH_VERSION_${name} (\\d+)$`, 'm').exec(header)?.[1];
  const header = read('c/include/uv_batch.h');
  return Object.fromEntries([
    ...[...typed, 'lab'].map((name) => json(`packages/${name}/package.json`)),
    ['c/include/uv_batch.h', ['MAJOR', 'MINOR', 'PATCH'].map(number).join('.')],
    // Users of goja have no `replace`, and need a version that exists.
    ['go/goja/go.mod', /^\tmillrace\.dev\/go v(\S+)$/m.exec(read('go/goja/go.mod'))?.[1]],
  ]);
}

/** Returns the changelog's section on a version, without its heading; undefined when it has no such section. */
export function changesOf(version) {
  const [, ...sections] = read('CHANGELOG.md').split(/^## /m);
  const section = sections.find((each) => each.startsWith(`[${version}] - `));
  return section?.slice(section.indexOf('\n')).trim();
}
