/** The matrix that is kept in bench/measured/stalls-matrix.txt, a line of JSON for each cell. A later run replaces the cells that it has measured. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../measured/stalls-matrix.txt', import.meta.url);

/**
 * Cell of the matrix: blocks by outcome, of one kind, under one tool, on one release of Node.js.
 *
 * @typedef {{ kind: string, tool: string, release: string, node: string, tries: number } & Record<string, number>} Row
 */

/** @returns {Row[]} */
export const keptMatrix = () =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

/** Keeps rows in place of those of the same cells, and the others as they are. @param {Row[]} rows */
export function keepMatrix(rows) {
  const key = ({ kind, tool, release }) => `${kind} ${tool} ${release}`;
  const all = new Map([...keptMatrix(), ...rows].map((row) => [key(row), row]));
  const lines = [...all.keys()].sort().map((each) => `${JSON.stringify(all.get(each))}\n`);
  writeFileSync(file, lines.join(''));
}
