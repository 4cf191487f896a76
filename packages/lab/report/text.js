/** The sentences of a report: pure, and the same in HTML and Markdown. */
import { LEAST_ROUNDS } from '../experiment/figure.js';
import { isNumber, levelText, measured, quantity, times } from './numbers.js';
import { claimsOf, controlOf, figuresOf, groupBy, mainMetric, treatmentsOf } from './select.js';

/** Up to this many comparisons can each be named in a sentence. */
const FEW = 4;

const SYMBOLS = {
  met: '✓',
  better: '✓',
  'not met': '–',
  'no difference': '=',
  different: '≠',
  worse: '✗',
  refuted: '✗',
  refused: '⊘',
  partial: '…',
  open: '?',
  mixed: '◐',
  undecided: '?',
  'not measured': '⊘',
};

/** A sign beside each word, for those who do not see colours. */
export const symbol = (word) => SYMBOLS[word] ?? '·';

/**
 * Headline of the results: a word and some sentences.
 *
 * @param {object} results
 * @returns {Headline}
 *
 * @typedef {object} Headline
 * @property {string} word a verdict, a finding, `refused` or `partial`
 * @property {string} title one sentence that says it all
 * @property {string[]} more sentences
 * @property {string | null} advice what to do about it
 */
export function headline(results) {
  const { refusal, partial, figures } = results;
  if (refusal) {
    const isIdle = refusal.kind === 'idle';
    const title = isIdle
      ? 'Stopped in the first round: there was nothing to compare.'
      : 'Refused: no figure of this experiment counts.';
    return {
      word: 'refused',
      title,
      more: [sentence(refusal.why)],
      advice: sentence(refusal.advice),
    };
  }
  if (figures.length === 0) {
    const title = partial ? `Partial: ${stopped(partial)}` : 'Nothing was measured.';
    const advice = 'Run the experiment again, and let it finish at least one round of all arms.';
    return { word: partial ? 'partial' : 'not measured', title, more: [], advice };
  }
  const answers = treatmentsOf(results).map((arm) => answer(results, arm));
  const found = { word: overall(results), ...joined(answers) };
  if (!partial) return found;
  return {
    ...found,
    word: 'partial',
    title: `Partial: ${stopped(partial)}`,
    more: [`So far: ${lowered(found.title)}`, ...found.more],
    advice: found.advice ?? 'Let it finish before anything is decided by it.',
  };
}

function joined(answers) {
  const [first, ...others] = answers.filter((each) => each !== null);
  if (first === undefined) return { title: 'Nothing was measured.', more: [], advice: null };
  const all = [first, ...others];
  return {
    title: first.title,
    more: [...first.more, ...others.flatMap(({ title, more }) => [title, ...more])],
    advice: all.find(({ advice }) => advice !== null)?.advice ?? null,
  };
}

/** Result of the main metric for one treatment. */
function answer(results, arm) {
  const metric = mainMetric(results);
  const figures = metric === null ? [] : figuresOf(results, { metric: metric.name, arm });
  if (figures.length === 0) return null;
  const control = controlOf(results);
  const rest = { more: [], advice: adviceOn(figures) };
  if (figures.length === 1) {
    const [figure] = figures;
    const more = figure.finding === 'undecided' && figure.why ? [sentence(figure.why)] : [];
    return { ...rest, title: finding(figure, control), more };
  }
  return { ...rest, title: [sweep(figures, control), growthOf(figures)].filter(Boolean).join(' ') };
}

/** The word over all, of the main metric: the verdict on what is claimed of it, or the finding. */
export function overall(results) {
  const metric = mainMetric(results)?.name;
  const figures = figuresOf(results, { metric });
  if (figures.some(({ finding: found }) => found === 'refused')) {
    return agreed(figures.map((each) => each.finding)) ?? 'mixed';
  }
  const verdicts = results.claims
    .filter((claim) => claim.metric === metric)
    .map((claim) => claim.verdict);
  return agreed(verdicts.length > 0 ? verdicts : figures.map((each) => each.finding)) ?? 'mixed';
}

/** The word that all have, except for what was not measured; null when they differ. */
function agreed(words) {
  const told = words.filter((word) => word !== 'not measured');
  const [first, ...others] = new Set(told.length > 0 ? told : words);
  return others.length === 0 ? first : null;
}

/**
 * A figure as a sentence: what, how much better, how sure, from what to what.
 *
 * @param {object} figure
 * @param {string} control the name of its arm
 */
export function finding(figure, control) {
  const { title, arm, n, level, lo, hi } = figure;
  const rounds = count(n, 'round');
  const head = `${capital(title)}: `;
  const from = `${measured(figure.control, figure.unit)} with ${control}, ${measured(figure.treatment, figure.unit)} with ${arm}`;
  const sure = `${levelText(level)} interval ${interval(figure)}, ${rounds}`;
  switch (figure.finding) {
    case 'refused':
      return `${head}this figure does not count. ${sentence(figure.refused ?? 'The arms cannot be compared')}`;
    case 'no difference':
      return `${head}no difference between ${control} and ${arm} (${sure}); ${from}.`;
    case 'undecided':
      return `${head}the rounds do not decide whether ${arm} differs from ${control} (${sure}); ${from}.`;
    default:
  }
  if (!isNumber(figure.ahead) || !isNumber(lo) || !isNumber(hi)) {
    return `${head}${figure.finding} with ${arm} than with ${control} (${sure}); ${from}.`.replace(
      'different with',
      'other with',
    );
  }
  return `${head}${howMuch(figure)} with ${arm} ${figure.better ? 'than' : 'as'} with ${control} (${sure}); ${from}.`;
}

/** `1.58 times better`, `1.25 times worse`, `1.30 times as much`. */
function howMuch({ ahead, better }) {
  if (better === null || better === undefined) return `${times(ahead)} times as much`;
  return ahead >= 1 ? `${times(ahead)} times better` : `${times(1 / ahead)} times worse`;
}

/** Interval of the ratio, the way that `howMuch` tells it; of the difference where there is no ratio. */
function interval({ finding: found, better, ahead, lo, hi, shift, unit }) {
  if (isNumber(lo) && isNumber(hi)) {
    const isTurned = found === 'worse' && better && ahead < 1;
    const [from, to] = isTurned ? [1 / hi, 1 / lo] : [lo, hi];
    return `${times(from)} to ${times(to)}${isTurned || found === 'better' ? '' : ' times'}`;
  }
  if (shift && isNumber(shift.lo) && isNumber(shift.hi)) {
    return `of the difference ${quantity(shift.lo)} to ${measured(shift.hi, unit)}`;
  }
  return 'not known';
}

/** Several cases in a sentence. */
function sweep(figures, control) {
  const { title, arm } = figures[0];
  const known = figures.filter((each) => each.finding !== 'refused' && isNumber(each.ahead));
  const groups = ['better', 'worse', 'different', 'no difference', 'undecided', 'refused']
    .map((word) => [word, figures.filter((each) => each.finding === word).length])
    .filter(([, many]) => many > 0);
  const head = `${capital(title)}, ${arm} against ${control}: ${shares(groups, figures.length, 'case')}`;
  if (known.length === 0) return `${head}.`;
  const sorted = known.toSorted((a, b) => a.ahead - b.ahead);
  const level = `${levelText(sorted[0].level)} interval `;
  const [least, most] = [withInterval(sorted[0], level), withInterval(sorted.at(-1), '')];
  if (sorted.length === 1) return `${head}; ${least}.`;
  return `${head}; from ${least} to ${most}.`;
}

const withInterval = ({ ahead, lo, hi, case: label }, level) =>
  `${times(ahead)} times at ${label} (${level}${times(lo)} to ${times(hi)})`;

/** Reports whether the gain grows from the first case to the last: only when their intervals do not meet. */
export function growthOf(figures) {
  const [first, last] = [figures[0], figures.at(-1)];
  const isKnown = [first, last].every(
    (each) => each.finding !== 'refused' && isNumber(each.lo) && isNumber(each.hi),
  );
  if (!isKnown) return null;
  const where = `from ${first.case} to ${last.case}`;
  if (last.lo > first.hi) return `The gain grows ${where}.`;
  if (last.hi < first.lo) return `The gain shrinks ${where}.`;
  return `Nothing shows that the gain grows ${where}: the two intervals meet.`;
}

function adviceOn(figures) {
  const open = figures.filter(({ finding: found }) => found === 'undecided' || found === 'refused');
  if (open.length === 0) return null;
  if (open.some(({ n }) => n < LEAST_ROUNDS)) {
    return `Measure ${LEAST_ROUNDS} rounds or more: fewer cannot show a difference.`;
  }
  const rounds = Math.max(...open.map(({ roundsFor }) => roundsFor ?? 0));
  const quiet = 'Measure on a machine that does nothing else';
  return rounds > 0
    ? `${quiet}, or in about ${quantity(rounds)} rounds.`
    : `${quiet}, and in more rounds.`;
}

/**
 * The claims, each once, with what became of it in all its cases and arms.
 *
 * @param {object} results
 * @returns {{ text: string, source: string, word: string, outcome: string, remarks: string[] }[]}
 */
export function claimTexts(results) {
  const groups = groupBy(
    results.claims,
    ({ text, source, metric, atLeast }) => `${text}\n${source}\n${metric}\n${atLeast}`,
  );
  return [...groups.values()].map((claims) => {
    const { text, source, atLeast, metric } = claims[0];
    const title = results.metrics.find(({ name }) => name === metric)?.title ?? metric;
    const remarks = claims
      .flatMap(({ says, why }) => [says, why])
      .filter(Boolean)
      .map(sentence);
    const word = agreed(claims.map(({ verdict }) => verdict)) ?? 'mixed';
    return {
      ...{ text, source },
      word,
      outcome: `${capital(title)}: at least ${times(atLeast)} times better was claimed; ${outcome(claims)}.`,
      remarks: [...new Set(remarks)],
    };
  });
}

function outcome(claims) {
  if (claims.length === 1) return told(claims[0]);
  const byVerdict = [...groupBy(claims, ({ verdict }) => verdict)];
  if (byVerdict.length === 1 || claims.length > FEW) {
    const groups = byVerdict.map(([verdict, list]) => [verdict, list.length]);
    return shares(groups, claims.length, 'comparison');
  }
  return byVerdict
    .map(([verdict, list]) => `${verdict} ${list.map((each) => placeOf(each, claims)).join(', ')}`)
    .join('; ');
}

/** `better in all 3 cases`, `better in 2 and open in 1 of 3 cases`. */
function shares(groups, all, thing) {
  const things = count(all, thing);
  if (groups.length === 1) return `${groups[0][0]} in all ${things}`;
  const parts = groups.map(([word, many]) => `${word} in ${many}`);
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)} of ${things}`;
}

function told({ ahead, lo, hi, n }) {
  if (!isNumber(ahead)) return 'no figure was measured';
  const rounds = isNumber(n) ? `, ${count(n, 'round')}` : '';
  return `${times(ahead)} was measured (${times(lo)} to ${times(hi)}${rounds})`;
}

function placeOf({ case: label, arm }, claims) {
  const isSpread = (key) => new Set(claims.map((claim) => claim[key])).size > 1;
  const names = [isSpread('arm') && `with ${arm}`, isSpread('case') && `at ${label}`];
  return names.filter(Boolean).join(' ');
}

/** The word of a figure's row: the verdict of its claim, or the finding. */
export function rowWord(results, figure) {
  if (figure.refused || figure.finding === 'refused') return 'refused';
  return claimsOf(results, figure)[0]?.verdict ?? figure.finding;
}

/**
 * Limits of what these results can say.
 *
 * @param {object} results
 * @returns {string[]} sentences
 */
export function limits(results) {
  const { figures, size } = results;
  const rounds = Math.max(0, ...figures.map(({ n }) => n ?? 0));
  const few = figures.some(({ level }) => isNumber(level) && level < 0.95);
  return [
    'One machine, one operating system, these versions: elsewhere the same software may compare otherwise.',
    'Load and server share the machine, so absolute figures are lower than on a server of its own. The comparison is fair, for both arms share it alike.',
    'An interval says how far chance may have moved the figure. It knows nothing of a cause that is the same in all rounds.',
    'Where the load waits for answers before it asks again, latency is that of a server kept busy by so many clients, not at a fixed rate.',
    size === 'quick' && 'A quick run: fewer rounds and cases, to look rather than to decide.',
    few &&
      `With ${count(rounds, 'round')} no interval reaches 95 %; the level is written beside each.`,
    'The rank-sum p ignores that the runs of a round belong together; the signed-rank p uses it, and is corrected for the number of metrics.',
  ].filter(Boolean);
}

/** A number of things: `1 round`, `50 rounds`. */
export const count = (n, thing) => `${quantity(n)} ${thing}${n === 1 ? '' : 's'}`;

/** Ends a text with a full stop. */
const stopped = (text) => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

const sentence = (text) => capital(stopped(text));

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Within another sentence; abbreviations and names such as F(N) stay. */
const lowered = (text) =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
