/** Chart: a card with a title, the lines, and a legend with the values under the cursor, or the latest. */
import { element, setText } from './dom.js';
import { format, time } from './format.js';
import { Legend } from './legend.js';
import { drawMarks } from './marks.js';
import { height, plotOptions, positive } from './plot.js';
import uPlot from './uplot.js';

const isSomething = (value) => value !== null && value !== 0;
const last = (values) => values.findLast((value) => value !== null);

export class Chart {
  #plot = null;
  #shape = '';
  legend = new Legend();
  /** Places of lines in order of appearance: each keeps its colour. */
  #places = new Map();
  #seen = new Set();
  #data = [[]];

  /**
   * @param {object} definition from charts.js
   * @param {import('./view.js').View} view
   */
  constructor(definition, view) {
    this.definition = definition;
    this.view = view;
    this.when = element('span', { class: 'when' });
    this.area = element('div', {
      class: 'plot',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'chart',
    });
    const title = element('h3', { id: `title-${definition.id}` }, definition.title);
    this.card = element(
      'article',
      { class: 'card', id: definition.id, 'aria-labelledby': title.id, hidden: true },
      element('header', {}, title, this.when),
      this.area,
      this.legend.list,
    );
    this.area.addEventListener('keydown', (event) => this.#key(event));
    this.area.addEventListener('blur', () => this.#point(null));
    this.resizes = new ResizeObserver(() => this.#resize());
    this.resizes.observe(this.area);
    this.isShown = definition.always === true;
  }

  /** Displayed lines, for the export. */
  lines = [];

  /** Updates the values. Draws them when the card is on the page. */
  update(span) {
    this.lines = this.definition.lines(span).filter((line) => this.#isKept(line));
    this.isShown ||= this.lines.some(({ values }) => values.some(isSomething));
    this.card.hidden = !this.isShown;
    if (!this.isShown) return;
    const drawn = this.definition.log ? positive : (values) => values;
    this.#data = [
      Array.from({ length: span.to - span.from + 1 }, (_, n) => span.from + n),
      ...this.lines.map(({ values }) => drawn(values)),
    ];
    const shape = this.lines.map(({ label }) => label).join('\n');
    if (this.#plot === null || shape !== this.#shape) this.#build(shape);
    const [min, max] = this.view.bounds;
    this.#plot.batch(() => {
      this.#plot.setData(this.#data, false);
      this.#plot.setScale('x', { min, max });
    });
    this.#tell();
  }

  /** Redraws after a change of colours. */
  redraw() {
    this.#plot?.redraw(false);
    this.legend.recolour();
  }

  forgetData() {
    this.isShown = this.definition.always === true;
    this.#seen.clear();
  }

  /** Reports whether a line is in the chart. A line that has once appeared stays: a changing legend is hard to read. */
  #isKept({ label, values, optional }) {
    if (optional && !this.#seen.has(label) && !values.some(isSomething)) return false;
    this.#seen.add(label);
    return true;
  }

  #build(shape) {
    this.#shape = shape;
    this.#plot?.destroy();
    const lines = this.lines.map(({ label, dashed }) => {
      if (!this.#places.has(label)) this.#places.set(label, this.#places.size);
      const isShown = !this.legend.hidden.has(label);
      const isEmphasised = label === this.definition.emphasis;
      return { label, dashed, place: this.#places.get(label), isShown, isEmphasised };
    });
    const options = plotOptions(this.definition, lines, this.area.clientWidth || 320);
    options.cursor.bind = { dblclick: () => () => this.view.set({ zoom: null }) };
    options.hooks = {
      draw: [(plot) => drawMarks(plot, this.view.lines)],
      setCursor: [() => this.#tell()],
      setSelect: [(plot) => this.#select(plot)],
    };
    this.#plot = new uPlot(options, this.#data, this.area);
    this.legend.build(lines, (n, show) => this.#plot.setSeries(n + 1, { show }));
  }

  #tell() {
    const at = this.#plot?.cursor.idx;
    const { unit } = this.definition;
    const values = this.lines.map(({ values }) => (at == null ? last(values) : values[at]));
    this.legend.tell(values, unit);
    setText(this.when, at == null ? '' : time(this.#data[0][at]));
    const said = this.lines.map(({ label }, n) => `${label} ${format(values[n], unit)}`);
    this.area.setAttribute(
      'aria-label',
      `${this.definition.title}: ${said.join(', ') || 'no data'}`,
    );
  }

  #select(plot) {
    const { left, width } = plot.select;
    if (width < 8) return;
    const [from, to] = [left, left + width].map((x) => plot.posToVal(x, 'x'));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.zoomTo(from, to);
  }

  #key(event) {
    const plot = this.#plot;
    if (plot === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      const [min, max] = this.view.bounds;
      const end = this.#data[0].findLastIndex((second) => second <= max);
      const start = this.#data[0].findIndex((second) => second >= min);
      const from = plot.cursor.idx ?? end + 1;
      this.#point(Math.min(Math.max(from + step, start), end));
    } else if (event.key === '+' || event.key === '=') this.view.zoomBy(0.5);
    else if (event.key === '-') this.view.zoomBy(2);
    else if (event.key === 'Escape') this.view.set({ zoom: null });
    else return;
    event.preventDefault();
  }

  /** Moves the cursor of this chart, and with it that of all others. */
  #point(index) {
    const plot = this.#plot;
    if (plot === null) return;
    const left = index === null ? -10 : plot.valToPos(this.#data[0][index], 'x');
    // The third argument, which is not in its documentation, tells the other charts.
    plot.setCursor({ left, top: index === null ? -10 : 1 }, true, true);
  }

  #resize() {
    const width = this.area.clientWidth;
    if (width > 0 && this.#plot !== null && width !== this.#plot.width) {
      this.#plot.setSize({ width, height });
    }
  }
}
