/** Charts as SVG, drawn when the report is made: the page needs no script to show them. */
import { plot } from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { html, markup } from '../escape.js';

const { document } = parseHTML('<!doctype html><html><body></body></html>');

/** Widths in pixels: of a whole column, and of a telephone or one of several charts beside each other. */
export const WIDE = 720;
export const NARROW = 340;

/** Marks that distinguish arms without colours: the line, the mark and the shade. */
const STYLES = {
  control: { symbol: 'circle', dash: null, width: 1.75 },
  twin: { symbol: 'circle', dash: '1,3', width: 1.5 },
  'arm-1': { symbol: 'square', dash: null, width: 2.5 },
  'arm-2': { symbol: 'triangle', dash: '7,3', width: 2 },
  'arm-3': { symbol: 'diamond', dash: '3,3', width: 2 },
  'arm-4': { symbol: 'star', dash: '9,3,2,3', width: 2 },
  'arm-5': { symbol: 'wye', dash: '4,4', width: 2 },
};

/** Look of an arm: options of a mark. Its colour is that of the page, light or dark. */
export function look({ style }) {
  const { symbol, dash, width } = STYLES[style];
  const stroke = `var(--${style})`;
  return { symbol, line: { stroke, strokeWidth: width, strokeDasharray: dash }, colour: stroke };
}

/**
 * A chart.
 *
 * @param {string} label what it shows, for those who hear it
 * @param {object} options of Observable Plot
 * @returns {ReturnType<typeof import('../escape.js').html>}
 */
export function chart(label, options) {
  const svg = plot({ document, marginTop: 12, ...options });
  // Its style would need an exception of the page's policy, and says nothing that the page's own does not.
  for (const style of svg.querySelectorAll('style')) style.remove();
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  for (const name of ['font-family', 'font-size', 'class']) svg.removeAttribute(name);
  return markup(svg.outerHTML);
}

/** A chart drawn for both widths, of which the page shows the one that fits. */
export const bothWidths = (draw) =>
  html`<div class="wide">${draw(WIDE)}</div><div class="narrow">${draw(NARROW)}</div>`;

/** A chart with what it shows above it. */
export const captioned = (title, unit, drawing, note = null) => html`<figure>
<figcaption>${title}${unit ? html` <span class="unit">${unit}</span>` : ''}</figcaption>
${drawing}${note && html`<p class="note">${note}</p>`}</figure>
`;
