/** One chart: a card with a title, the lines, and a legend that tells the values under the cursor, or the latest. */
import { element, setText } from './dom.js';
import { format, time } from './format.js';
import { colour } from './theme.js';
import uPlot from './uplot.js';

const height = 180;
const colours = 8;
const stroke = (n) => colour(`--line-${(n % colours) + 1}`);
/** Distances of grid lines that are whole KiB, MiB or GiB. */
const binarySteps = Array.from({ length: 44 }, (_, n) => 2 ** n);
const isSomething = (value) => value !== null && value !== 0;
const last = (values) => values.findLast((value) => value !== null);

export class Chart {
  #plot = null;
  #shape = '';
  #legend = [];
  /** Places of lines in the order in which they came up: each keeps its colour. */
  #places = new Map();
  #hidden = new Set();
  #seen = new Set();
  #data = [[]];

  /**
   * @param {object} definition one of charts.js
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
    this.list = element('ul', { class: 'legend' });
    const title = element('h3', { id: `title-${definition.id}` }, definition.title);
    this.card = element(
      'article',
      { class: 'card', id: definition.id, 'aria-labelledby': title.id, hidden: true },
      element('header', {}, title, this.when),
      this.area,
      this.list,
    );
    this.area.addEventListener('keydown', (event) => this.#key(event));
    this.area.addEventListener('blur', () => this.#point(null));
    this.resizes = new ResizeObserver(() => this.#resize());
    this.resizes.observe(this.area);
    this.isShown = definition.always === true;
  }

  /** Lines as they are shown, for the export. */
  lines = [];

  /** Takes what there is now. Draws it when the card is on the page. */
  update(span) {
    this.lines = this.definition.lines(span).filter((line) => this.#isKept(line));
    this.isShown ||= this.lines.some(({ values }) => values.some(isSomething));
    this.card.hidden = !this.isShown;
    if (!this.isShown) return;
    this.#data = [
      Array.from({ length: span.to - span.from + 1 }, (_, n) => span.from + n),
      ...this.lines.map(({ values }) => values),
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

  /** After a change of colours. */
  redraw() {
    this.#plot?.redraw(false);
    for (const { swatch, place } of this.#legend) swatch.style.background = stroke(place);
  }

  forgetData() {
    this.isShown = this.definition.always === true;
    this.#seen.clear();
  }

  /** A line that has once been there stays: a legend that comes and goes cannot be read. */
  #isKept({ label, values, optional }) {
    if (optional && !this.#seen.has(label) && !values.some(isSomething)) return false;
    this.#seen.add(label);
    return true;
  }

  #build(shape) {
    this.#shape = shape;
    this.#plot?.destroy();
    const places = this.lines.map(({ label }) => {
      if (!this.#places.has(label)) this.#places.set(label, this.#places.size);
      return this.#places.get(label);
    });
    const { unit, most } = this.definition;
    const axis = {
      stroke: () => colour('--soft'),
      font: '11px system-ui, sans-serif',
      grid: { stroke: () => colour('--grid'), width: 1 },
      ticks: { show: false },
    };
    const options = {
      width: this.area.clientWidth || 320,
      height,
      padding: [18, 30, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: true, auto: false },
        y: { range: (_, __, max) => [0, Math.max(max == null ? 0 : max * 1.1, most ?? 0) || 1] },
      },
      series: [
        {},
        ...this.lines.map(({ label, dashed }, n) => ({
          label,
          show: !this.#hidden.has(label),
          stroke: () => stroke(places[n]),
          width: 1.5,
          ...(dashed ? { dash: [5, 4] } : {}),
          points: { show: (_, __, from, to) => to - from < 2 },
        })),
      ],
      axes: [
        { ...axis, size: 26, space: 70, values: (_, splits) => splits.map(time) },
        {
          ...axis,
          size: 62,
          ...(unit.startsWith('bytes') ? { incrs: binarySteps } : {}),
          space: 34,
          values: (_, splits) => splits.map((value) => format(value, unit)),
        },
      ],
      cursor: {
        sync: { key: 'millrace', scales: ['x', null] },
        drag: { x: true, y: false, setScale: false },
        focus: { prox: -1 },
        y: false,
        points: { size: 7 },
        bind: { dblclick: () => () => this.view.set({ zoom: null }) },
      },
      hooks: {
        draw: [(plot) => this.#drawMarks(plot)],
        setCursor: [() => this.#tell()],
        setSelect: [(plot) => this.#select(plot)],
      },
    };
    this.#plot = new uPlot(options, this.#data, this.area);
    this.#buildLegend(places);
  }

  #buildLegend(places) {
    this.#legend = this.lines.map(({ label }, n) => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = stroke(places[n]);
      const value = element('b');
      const isOn = !this.#hidden.has(label);
      const button = element('button', { type: 'button', 'aria-pressed': String(isOn) });
      button.append(swatch, label, ' ', value);
      button.addEventListener('click', () => this.#toggle(label, n, button));
      return { button, swatch, value, place: places[n] };
    });
    this.list.replaceChildren(...this.#legend.map(({ button }) => element('li', {}, button)));
  }

  #toggle(label, n, button) {
    const isOn = this.#hidden.delete(label);
    if (!isOn) this.#hidden.add(label);
    button.setAttribute('aria-pressed', String(isOn));
    this.#plot.setSeries(n + 1, { show: isOn });
  }

  #tell() {
    const at = this.#plot?.cursor.idx;
    const { unit } = this.definition;
    const values = this.lines.map(({ values }) => (at == null ? last(values) : values[at]));
    this.#legend.forEach(({ value }, n) => {
      setText(value, format(values[n], unit));
    });
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

  #drawMarks({ ctx, bbox, scales, valToPos }) {
    const { min, max } = scales.x;
    const px = devicePixelRatio;
    ctx.save();
    ctx.font = `${11 * px}px system-ui, sans-serif`;
    ctx.strokeStyle = colour('--mark');
    ctx.fillStyle = colour('--mark');
    ctx.lineWidth = px;
    ctx.setLineDash([3 * px, 3 * px]);
    const inSight = this.view.lines.filter(({ at }) => at >= min * 1000 && at <= max * 1000);
    let end = Number.NEGATIVE_INFINITY;
    for (const { at, feature, on } of inSight) {
      const x = Math.round(valToPos(at / 1000, 'x', true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const text = `${feature} ${on ? 'on' : 'off'}`;
      const { width } = ctx.measureText(text);
      const left = Math.min(x, bbox.left + bbox.width - width / 2);
      // Above the lines; a neighbour's name that would run into the one before is one row lower.
      const isCrowded = left < end;
      ctx.fillText(text, left, bbox.top + (isCrowded ? 10 : -4) * px);
      if (!isCrowded) end = left + width + 6 * px;
    }
    ctx.restore();
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
