/** The tables that are written into pages, each between two marks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { measuredRows, once, results, runs, table } from './cells.js';

const root = new URL('../../', import.meta.url);
const begin = (name) => `<!-- ${name}: written by make bench SAVE=1 -->`;
const end = (name) => `<!-- end of ${name} -->`;

/** By page, and by the name of the marks. */
const parts = {
  'README.md': { measured: shortTable },
  'docs/measured.md': { measured: longTable, behind: behindList, runs: runsTable },
};

export const pages = Object.keys(parts);

/** A page as it has to be. */
export function pageText(page) {
  let text = readFileSync(new URL(page, root), 'utf8');
  for (const [name, make] of Object.entries(parts[page])) {
    const [from, to] = [text.indexOf(begin(name)), text.indexOf(end(name))];
    if (from < 0 || to < from) {
      throw new Error(`${page} has lost the marks ${begin(name)} and ${end(name)}`);
    }
    text = `${text.slice(0, from)}${begin(name)}\n\n${make()}\n\n${text.slice(to)}`;
  }
  return text;
}

export function writePages() {
  for (const page of pages) writeFileSync(new URL(page, root), pageText(page));
}

function shortTable() {
  const chosen = measuredRows().filter(({ row }) => row.readme);
  return table(
    ['what', 'figure', 'Millrace', 'the other', 'ahead', '`NAME`'],
    chosen.map((each) => {
      const { row } = each;
      const [ours, theirs, ahead] = results(each);
      return [row.readme, row.figure, ours, `${row.against}: ${theirs}`, ahead, `\`${row.bench}\``];
    }),
  );
}

function longTable() {
  const body = measuredRows().map((each, i, all) => {
    const { row } = each;
    const before = all[i - 1]?.row;
    const isSame = before?.bench === row.bench;
    return [
      isSame ? '' : `\`${row.bench}\``,
      once(row.what, isSame && before.what),
      row.figure,
      row.against,
      ...results(each),
    ];
  });
  return table(['bench', 'case', 'figure', 'peer', 'ours', "peer's", 'ahead'], body);
}

/** Those of which the whole interval is below 1, the furthest first. */
function behindList() {
  return measuredRows()
    .filter(({ figure }) => figure.hi < 1)
    .sort((a, b) => a.figure.ahead - b.figure.ahead)
    .map((each) => {
      const { bench, what, figure, against } = each.row;
      return `- \`${bench}\`: ${what}: ${figure} ${results(each)[2]}, against ${against}`;
    })
    .join('\n');
}

function runsTable() {
  const all = runs();
  const body = all.map(({ bench, quick, machine }) => [
    `\`make bench NAME=${bench}${quick ? ' QUICK=1' : ''}\``,
    `${machine.cpu}, ${machine.cores} cores`,
    machine.kernel ?? '–',
    machine.node ?? '–',
    `[lines](../bench/measured/${bench}.jsonl)`,
  ]);
  const notes = all.filter((run) => run.notes.length > 0).map(notesOf);
  const head = ['command', 'machine', 'kernel', 'Node.js', 'kept'];
  return [table(head, body), 'Remarks of the runs:', notes.join('\n')].join('\n\n');
}

const notesOf = ({ bench, notes }) =>
  [`- \`${bench}\``, ...notes.map((note) => `  - ${escaped(note)}`)].join('\n');

/** As a page shows it: nothing of a note is markup. */
const escaped = (text) => text.replace(/[*_`<>[\]\\|]/g, '\\$&');
