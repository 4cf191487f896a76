import { html } from '../escape.js';
import { armDots, armLine } from './marks.js';
import { chart } from './plot.js';

/** Legend of lines and arms. */
export const legend = (arms) => html`<ul class="legend">${arms.map(
  (arm) => html`<li>${sample(arm)} <span>${arm.title}</span></li>`,
)}</ul>
`;

function sample(arm) {
  const ends = [
    [0, 0],
    [1, 0],
  ];
  return chart(arm.title, {
    ...{ width: 36, height: 14, margin: 0, marginTop: 0, axis: null },
    ...{ x: { domain: [0, 1], range: [1, 35] }, y: { domain: [-1, 1], range: [13, 1] } },
    marks: [armLine(arm, ends), arm.role === 'twin' ? null : armDots(arm, [[0.5, 0]])],
  });
}
