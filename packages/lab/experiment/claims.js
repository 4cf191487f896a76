import { ratioFigure } from '../run/figures.js';
import { WIDTH, wrap } from './text.js';

/**
 * What came of each claim, for a terminal.
 *
 * @param {import('./judge.js').Results} results
 * @param {ReturnType<typeof import('../run/command.js').colours>} paint
 * @returns {string[]}
 */
export function claimLines({ claims }, paint) {
  if (claims.length === 0) return [];
  const isOneArm = new Set(claims.map(({ arm }) => arm)).size === 1;
  const lines = ['', paint.bold('Claims')];
  let last;
  for (const claim of claims) {
    if (claim.text !== last) lines.push(wrap(`"${claim.text}" (${claim.source})`));
    last = claim.text;
    lines.push(...one(claim, isOneArm ? claim.case : place(claim), paint));
  }
  return lines;
}

const place = ({ case: label, arm }) => (label === '' ? arm : `${label}, ${arm}`);

function one({ verdict, atLeast, ahead, lo, hi, n, why, says }, where, paint) {
  const colour = { met: paint.green, refuted: paint.red, 'not met': paint.red }[verdict];
  const measured =
    ahead === null
      ? ''
      : `${times(ahead)} (${ratioFigure(lo)}–${ratioFigure(hi)}, ${n} ${n === 1 ? 'round' : 'rounds'}), `;
  const head = where === '' ? '  ' : `  ${where}: `;
  const rest = `, ${measured}claimed ${times(atLeast)}`;
  const isLong = head.length + verdict.length + rest.length > WIDTH;
  return [
    ...(isLong ? [wrap(where, '  ')] : []),
    `${isLong ? '    ' : head}${(colour ?? paint.dim)(verdict)}${rest}`,
    ...[why, says].filter((each) => each !== null).map((each) => wrap(each, '    ')),
  ];
}

const times = (value) => `${ratioFigure(value)}×`;
