import { type Colours, colours, type Paint } from '../colours.js';
import type { Finding, State } from './finding.js';

/** A text for people: aligned, coloured on terminals. */
export function format(findings: readonly Finding[]): string {
  const colour = colours(1);
  const width = Math.max(...findings.map(({ name }) => name.length));
  const indent = ' '.repeat('missing  '.length + width + 2);
  const lines = findings.flatMap(({ name, state, found, means, fix }) => [
    `${paintOf(state, colour)(state.padEnd(9))}${colour.bold(name.padEnd(width))}  ${found}`,
    ...(means === null ? [] : [`${indent}${colour.dim(means)}`]),
    ...(fix === null ? [] : [`${indent}fix: ${fix}`]),
  ]);
  return `${lines.join('\n')}\n\n${summary(findings)}`;
}

function paintOf(state: State, { green, yellow, red, dim }: Colours): Paint {
  return { ok: green, note: yellow, warning: red, missing: dim }[state];
}

function summary(findings: readonly Finding[]): string {
  const count = (state: State) => findings.filter((each) => each.state === state).length;
  const states: readonly State[] = ['warning', 'note', 'missing'];
  const counts = states.map((state) => ({ state, n: count(state) })).filter(({ n }) => n > 0);
  if (counts.length === 0) return 'All is well.';
  return counts
    .map(({ state, n }) => `${n} ${state}${n > 1 && state !== 'missing' ? 's' : ''}`)
    .join(', ');
}
