import { isColoured, type Paint, painter, wrapped } from '@millrace/base/text';
import type { Finding, State } from './finding.js';

const stateWidth = 'warning  '.length;

/**
 * A text for people: aligned, coloured on terminals.
 *
 * @param columns lines are no longer than that where words allow it
 */
export function format(
  findings: readonly Finding[],
  columns: number = process.stdout.columns ?? Number.POSITIVE_INFINITY,
): string {
  const paint = painter(isColoured(1));
  const [bold, dim] = [paint(1), paint(2)];
  const paintOf = { ok: paint(32), note: paint(33), warning: paint(31) };
  const nameWidth = Math.max(...findings.map(({ name }) => name.length)) + 2;
  const before = stateWidth + nameWidth;
  const block = (text: string, paint: Paint = (line) => line) =>
    wrapped(text, columns - before)
      .map(paint)
      .join(`\n${' '.repeat(before)}`);
  const lines = findings.map(({ name, state, found, means, fix }) => {
    const parts = [block(found)];
    if (means !== null) parts.push(block(means, dim));
    if (fix !== null) parts.push(block(`fix: ${fix}`));
    const head = `${paintOf[state](state.padEnd(stateWidth))}${bold(name.padEnd(nameWidth))}`;
    return head + parts.join(`\n${' '.repeat(before)}`);
  });
  return `${lines.join('\n')}\n\n${summary(findings)}`;
}

function summary(findings: readonly Finding[]): string {
  const states: readonly State[] = ['warning', 'note'];
  const counts = states
    .map((state) => ({ state, n: findings.filter((each) => each.state === state).length }))
    .filter(({ n }) => n > 0);
  if (counts.length === 0) return 'All is well.';
  return counts.map(({ state, n }) => `${n} ${state}${n > 1 ? 's' : ''}`).join(', ');
}
