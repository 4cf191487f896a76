/** The codes of errors that the sources have. */
import { files } from '../../../scripts/lib/files.js';
import { read, typed } from '../../../scripts/lib/paths.js';

const matches = (text, pattern) => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => name)),
];

const isSource = (path) => /\.(js|ts|cts)$/.test(path) && !/\/test\//.test(path);
const texts = (folder) => files(folder).filter(isSource).map(read).join('\n');

/** Codes in the table of packages/base/src/errors.cts, and the code of the guard's plugin. */
export const ofNode = () => [
  ...matches(read('packages/base/src/errors.cts'), /^ {2}(MILLRACE_E_\w+):/gm),
  ...matches(read('packages/guard/src/fastify/refusal.ts'), /code = '(\w+)'/g),
];

/** Codes that the source of any package names. */
export const usedInNode = () =>
  matches(
    typed.map((name) => texts(`packages/${name}/src`)).join('\n'),
    /\b(MILLRACE_E_[A-Z_]+)\b/g,
  );

/** Those that the lab throws, and those that its class lists. */
export const ofLab = () => matches(texts('packages/lab'), /'(MILLRACE_LAB_E_[A-Z_]+)'/g);
export const listedByLab = () =>
  matches(read('packages/lab/load/errors.js'), /`(MILLRACE_LAB_E_[A-Z_]+)`/g);

/** Those that the header and the texts for codes name. */
export const ofC = () => [
  ...matches(`${read('c/include/uv_batch.h')}\n${read('c/src/errors.c')}`, /\b(UV_E[A-Z0-9]+)\b/g),
  ...matches(read('packages/millrace/addon/include/millrace.h'), /^ {2}(MILLRACE_[A-Z_]+) = -\d/gm),
];
/** Those that the reference says a function returns. */
export const ofReference = () =>
  matches(read('docs/reference/c-reference.md'), /\b(UV_E[A-Z0-9]+)\b/g);

const goFolders = ['go', 'go/batch', 'go/eventloop', 'go/promise', 'go/goja/eventloop'];

/** Exported values and types that are errors, as `package.Name`. */
export function ofGo() {
  return [...new Set(goFolders.flatMap(errorsIn))];
}

function errorsIn(folder) {
  const text = files(folder)
    .filter((path) => path.endsWith('.go') && !/_test\.go$/.test(path))
    .filter((path) => path.slice(0, path.lastIndexOf('/')) === folder)
    .map(read)
    .join('\n');
  const names = [
    ...matches(text, /^\t(Err[A-Z]\w*) += /gm),
    ...matches(text, /^func \(\w+ \*?([A-Z]\w*)\) Error\(\) string/gm),
  ];
  const pack = folder === 'go' ? 'millrace' : folder.slice(folder.lastIndexOf('/') + 1);
  return names.map((name) => `${pack}.${name}`);
}
