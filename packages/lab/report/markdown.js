import { escapeMarkdown } from './escape.js';
import { armFacts, facts } from './facts.js';
import { leadOf } from './lead.js';
import { overviewRows } from './overview.js';
import { noiseRows, rows } from './rows.js';
import { controlOf, groupBy, treatmentsOf } from './select.js';
import { claimTexts, headline, limits } from './text.js';

/**
 * Results as Markdown of GitHub's kind: sentences and tables.
 *
 * @param {object[]} all results, one or more
 * @returns {string}
 */
export function markdown(all) {
  const isAlone = all.length === 1;
  const parts = [
    ...(isAlone ? [] : [`# ${all.length} experiments`, overview(all)]),
    ...all.flatMap((results) => experiment(results, isAlone ? '#' : '##')),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function experiment(results, level) {
  const { question, about, experiment: name, notes, refusal } = results;
  const lead = leadOf(about);
  const { word, title, more, advice } = headline(results);
  const claims = refusal ? [] : claimTexts(results);
  return [
    `${level} ${escapeMarkdown(question)}`,
    `**${capitals(word)}.** ${escapeMarkdown(title)}`,
    ...more.map(escapeMarkdown),
    advice === null ? '' : `What to do: ${escapeMarkdown(advice)}`,
    claims.map(claimLine).join('\n'),
    table(['', ''], lead.rows),
    ...lead.paragraphs.map(escapeMarkdown),
    ...figureTables(results),
    noiseTable(results),
    `${level}# How it was measured`,
    table(['', ''], [['experiment', name], ...facts(results)]),
    table(
      ['arm', 'role', 'command'],
      armFacts(results).map((arm) => [arm.name, arm.role, arm.command]),
    ),
    `${level}# What the figures cannot say`,
    [...notes, ...limits(results)].map((text) => `- ${escapeMarkdown(text)}`).join('\n'),
  ];
}

const capitals = (word) => escapeMarkdown(word.charAt(0).toUpperCase() + word.slice(1));

const claimLine = ({ text, source, word, outcome, remarks }) =>
  `- “${escapeMarkdown(text)}” (${escapeMarkdown(source)}): **${escapeMarkdown(word)}**. ${[outcome, ...remarks].map(escapeMarkdown).join(' ')}`;

function figureTables(results) {
  const arms = treatmentsOf(results);
  const hasArms = arms.length > 1;
  const heads = [
    ...['metric', ...(hasArms ? ['arm'] : []), 'claimed', controlOf(results)],
    ...[hasArms ? 'treatment' : (arms[0] ?? 'treatment'), 'times better', 'interval'],
    ...['p, signed-rank, Holm', 'p, rank-sum', 'Cliff’s δ', 'verdict'],
  ];
  return [...groupBy(rows(results), (row) => row.case)].flatMap(([label, list]) => [
    label === '' ? '' : `**${escapeMarkdown(label)}**`,
    table(
      heads,
      list.map((row) => [
        ...[named(row), ...(hasArms ? [row.arm] : [])],
        [row.claimed, row.paper].filter(Boolean).join('; '),
        ...[row.control, row.treatment, row.times, row.interval, row.p, row.pRankSum],
        ...[
          `${row.delta} ${row.deltaWord}`.trim(),
          [row.word, row.refused].filter(Boolean).join(': '),
        ],
      ]),
      hasArms ? 3 : 2,
    ),
  ]);
}

function noiseTable(results) {
  const list = noiseRows(results);
  if (list.length === 0) return '';
  const heads = [
    'metric',
    'case, arm',
    'difference',
    'interval',
    'interquartile range',
    'variation',
  ];
  const twin = ['control against itself', 'interval', 'p', 'smallest gain that shows'];
  return table(
    [...heads, ...twin],
    list.map((row) => [
      ...[named(row), [row.case, row.arm].filter(Boolean).join(', ')],
      ...[row.shift, row.shiftInterval, row.iqr, row.cv],
      ...[row.twin, row.twinInterval, row.twinP, row.smallest],
    ]),
    2,
  );
}

function overview(all) {
  const lines = all.flatMap((results) =>
    overviewRows(results).map(({ words, ...row }) => [
      ...[results.experiment, row.text, row.claimed, row.times, row.interval],
      words.map(([word, many]) => (many > 1 ? `${word} (${many})` : word)).join(', '),
    ]),
  );
  return table(
    ['experiment', 'asked or claimed', 'claimed', 'times better', 'interval', 'verdict'],
    lines,
    2,
  );
}

const named = ({ title, unit }) => (unit === '' ? title : `${title}, ${unit}`);

/** @param {number} [numbers] the first column that is aligned to the right */
function table(heads, lines, numbers = heads.length) {
  if (lines.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, i) => (i < numbers ? '---' : '---:'));
  return [heads.map(escapeMarkdown), marks, ...lines.map((cells) => cells.map(escapeMarkdown))]
    .map(line)
    .join('\n');
}
