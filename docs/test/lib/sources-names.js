/** Checks that the names in docs/research/sources.md exist: exports, functions of C and Go, words of files, cases of benchmarks. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { entryPoints } from '../../../scripts/lib/docs.js';
import { files } from '../../../scripts/lib/files.js';
import { read, root } from '../../../scripts/lib/paths.js';
import { isCommand, isPath, links, spans } from './sources.js';

const header = read('c/include/uv_batch.h');

const modules = new Map();
/** What an entry point of the package exports. */
export function load(entry) {
  if (!modules.has(entry)) modules.set(entry, import(entry));
  return modules.get(entry);
}

const entries = new Set(entryPoints().map(({ name }) => name));
export const isEntry = (name) => entries.has(name);

export const isC = (name) => /^(uv_batch|uv_tcp_|uv_largesocket|UV_BATCH_)/.test(name);
/** A function that is declared, or a type or value that is defined. */
export const isInHeader = (name) =>
  new RegExp(
    `^UV_BATCH_EXTERN .*\\b${name}\\(|\\b${name};|\\(\\*${name}\\)|^  ${name}\\b`,
    'm',
  ).test(header);

export const isGo = (name) => /^(batch|eventloop|promise|millrace)\.[A-Z]/.test(name);
/** `package.Function`, `package.Type`, `package.Type.Method` or `package.Type.Field`. */
export function isInGo(name) {
  const [folder, first, member] = name.split('.');
  const patterns = member
    ? [
        `^func \\(\\w+ \\*?${first}(\\[[\\w, ]+\\])?\\) ${member}\\(`,
        `^type ${first}(\\[.*\\])? struct \\{\n(?:(?!\\}).*\n)*?\t${member} `,
      ]
    : [`^(func|type) ${first}\\b`];
  return goSources(folder).some((text) =>
    patterns.some((pattern) => new RegExp(pattern, 'm').test(text)),
  );
}
const goSources = (folder) =>
  // The package millrace is the module's first folder.
  readdirSync(join(root, 'go', folder === 'millrace' ? '' : folder))
    .filter((file) => file.endsWith('.go') && !file.endsWith('_test.go'))
    .map((file) => read(join('go', folder === 'millrace' ? '' : folder, file)));

/** Files that a text names, pages that it links to, and the header for what is of C. */
export function sourcesIn(text) {
  const named = spans(text).filter(isPath);
  const linked = links(text).map((path) => join('docs/research', path));
  const own = spans(text).some(isC) ? ['c/include/uv_batch.h'] : [];
  return [...named, ...linked, ...own].filter(
    (path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile(),
  );
}

export const hasWord = (text, word) =>
  new RegExp(`(?<![\\w$])${word.replace(/[$.*+?()[\]{}|\\/]/g, '\\$&')}(?![\\w$])`).test(text);

/** The cases of one benchmark that nobody has defined. */
export function strangeCases(command) {
  let name = null;
  return spans(command).flatMap((span) => {
    if (isCommand(span)) {
      name = /NAME=([\w-]+)/.exec(span)?.[1] ?? null;
      return [];
    }
    const told = read('bench/README.md').split('\n');
    const at = told.findIndex((line) => line.startsWith(`| \`${name}\` |`));
    const end = told.findIndex((line, i) => i > at && !line.startsWith('| |'));
    const isTold = at >= 0 && told.slice(at, end).some((line) => isCaseOf(line, span));
    return isTold || isDefined(name, span) ? [] : [`${name} has no case ${span}`];
  });
}
/** A row names cases short: `push drain 10`, `1000`. */
const isCaseOf = (line, span) =>
  span.split(' ').every((word) => hasWord(spans(line.split('|')[2]).join(' '), word));
const isDefined = (name, text) =>
  [`bench/cases/${name}.js`, ...files(`bench/programs/${name}`), ...files('bench/go')].some(
    (path) => path.endsWith('.js') && existsSync(join(root, path)) && read(path).includes(text),
  );

/** What follows `CASE=`, and is no case of the tournament. */
export const goCases = (command) =>
  [...command.matchAll(/\bCASE=(\w+)/g)]
    .map(([, name]) => name)
    .filter((name) => !hasWord(read('bench/go/README.md'), name))
    .map((name) => `there is no case ${name}`);
