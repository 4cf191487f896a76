/** The tables of docs/benchmarks/stalls.md, from the matrix of `make bench NAME=stalls` that is kept. */
import { keptMatrix } from '../programs/stalls/kept.js';
import { kinds } from '../programs/stalls/kinds.js';
import { outcomes } from '../programs/stalls/matrix.js';
import { tools } from '../programs/stalls/tools.js';
import { table } from './cells.js';

/** Returns the outcomes of some cells together: the name of one, or each with its number. */
function cellOf(rows) {
  const counts = outcomes
    .map((outcome) => [outcome, rows.reduce((sum, row) => sum + row[outcome], 0)])
    .filter(([, count]) => count > 0);
  if (counts.length <= 1) return counts[0]?.[0] ?? '';
  return counts.map(([outcome, count]) => `${outcome} ${count}`).join(', ');
}

/** Returns the kinds by release of Node.js, for Millrace: those with another outcome on one of the releases. */
export function releasesTable() {
  const rows = keptMatrix().filter(({ tool }) => tool === 'millrace');
  const releases = [...new Set(rows.map(({ release }) => release))].sort();
  const body = kindsOf(rows).map(([kind, what]) => [
    what,
    ...releases.map((release) =>
      cellOf(rows.filter((row) => row.kind === kind && row.release === release)),
    ),
  ]);
  const differing = body.filter(([, ...cells]) => new Set(cells).size > 1);
  return table(['what blocks', ...releases.map((release) => `Node.js ${release}`)], differing);
}

/** Returns the kinds by tool, on the releases on which all tools were measured. */
export function toolsTable() {
  const rows = keptMatrix();
  const names = Object.keys(tools);
  const isCommon = ({ kind, release }) =>
    names.every((tool) =>
      rows.some((row) => row.tool === tool && row.kind === kind && row.release === release),
    );
  const common = rows.filter(isCommon);
  const body = kindsOf(common).map(([kind, what]) => [
    what,
    ...names.map((tool) => cellOf(common.filter((row) => row.kind === kind && row.tool === tool))),
  ]);
  return table(['what blocks', ...names.map((name) => tools[name].title)], body);
}

/** Returns the releases and the number of blocks, in words. */
export function matrixRuns() {
  const rows = keptMatrix();
  const lines = Object.entries(tools).map(([tool, { title }]) => {
    const mine = rows.filter((row) => row.tool === tool);
    const nodes = [...new Set(mine.map(({ node }) => node))].sort();
    const tries = [...new Set(mine.map((row) => row.tries))].sort((a, b) => a - b);
    return `- ${title}: ${tries.join(' or ')} blocks of each kind, on Node.js ${nodes.join(', ')}`;
  });
  return lines.join('\n');
}

const kindsOf = (rows) =>
  Object.entries(kinds)
    .filter(([kind]) => rows.some((row) => row.kind === kind))
    .map(([kind, { what }]) => [kind, what]);
