import { CHARTS, drawChart, figures } from '/chart.js';
import { ms, percent, perSecond, times } from '/numbers.js';

const FIGURES = {
  fresh: ['Fresh', (s) => perSecond(s.fresh)],
  copies: ['Copies', (s) => perSecond(s.copies)],
  shed: ['Refused', (s) => perSecond(s.shed)],
  failed: ['Failed', (s) => perSecond(s.late + s.failed)],
  p50: ['p50', (s) => ms(s.p50)],
  p99: ['p99', (s) => ms(s.p99)],
  health: ['/health 200', (s) => percent(s.healthOk)],
  healthP99: ['/health p99', (s) => ms(s.healthP99)],
};

/** Points of a chart that are kept; as many as the server keeps. */
const POINTS = 60;

/** Figures shown of one server. */
export class Row {
  #about;
  #element;
  #result = { points: [], summary: null, load: null };
  #charts;

  constructor(server, about) {
    this.#about = about;
    const template = document.querySelector('#server');
    this.#element = template.content.firstElementChild.cloneNode(true);
    this.#element.id = server.name;
    this.#element.classList.add('empty');
    this.#find('h2').textContent = server.title;
    this.#find('h2').id = `${server.name}-title`;
    this.#element.setAttribute('aria-labelledby', `${server.name}-title`);
    this.#find('.about').textContent = server.about;
    for (const [name, [title]] of Object.entries(FIGURES)) {
      this.#find('.figures').append(pair(title, name));
    }
    for (const kind of about.kinds) {
      const entry = pair(`${kind.name}, ${kind.class}`, kind.name);
      const bar = document.createElement('i');
      bar.className = 'bar';
      entry.append(bar);
      this.#find('.kinds').append(entry);
    }
    document.querySelector('#servers').append(this.#element);
    this.#charts = Object.values(CHARTS).map((chart) =>
      drawChart(this.#find('.charts'), chart, about, server.title),
    );
  }

  /** Replaces all that is known. */
  replace(result) {
    this.#result = { ...result, points: result.points.map((point) => figures(point, this.#about)) };
    this.#draw();
  }

  add({ point, summary, load }) {
    const points = [...this.#result.points, figures(point, this.#about)].slice(-POINTS);
    this.#result = { points, summary, load };
    this.#draw();
  }

  /** @param {{ load: number, isCurrent: boolean }} state */
  mark({ load, isCurrent }) {
    const { summary, load: measuredAt } = this.#result;
    const isOld = !isCurrent && summary !== null && measuredAt !== load;
    this.#element.classList.toggle('current', isCurrent);
    this.#element.classList.toggle('old', isOld);
    let turn = 'no turn yet';
    if (summary !== null) turn = `was at ${times(measuredAt)}, ${Math.round(summary.seconds)} s`;
    if (isCurrent) turn = `under load, ${times(load)}`;
    this.#find('.turn').textContent = turn;
  }

  #draw() {
    const { points, summary } = this.#result;
    this.#element.classList.toggle('empty', summary === null);
    for (const chart of this.#charts) chart.show(points);
    if (summary === null) return;
    this.#find('.big strong').textContent = percent(summary.ofPossible);
    fill(this.#find('.facts > .bar'), summary.ofPossible);
    for (const [name, [, write]] of Object.entries(FIGURES)) {
      this.#find(`.figures [data-name="${name}"] dd`).textContent = write(summary);
    }
    this.#about.kinds.forEach((kind, at) => {
      const entry = this.#find(`.kinds [data-name="${kind.name}"]`);
      entry.querySelector('dd').textContent = percent(summary.success[at]);
      fill(entry.querySelector('.bar'), summary.success[at]);
    });
  }

  #find(selector) {
    return this.#element.querySelector(selector);
  }
}

function pair(title, name) {
  const entry = document.createElement('div');
  entry.dataset.name = name;
  const dt = document.createElement('dt');
  dt.textContent = title;
  const dd = document.createElement('dd');
  dd.textContent = '–';
  entry.append(dt, dd);
  return entry;
}

function fill(bar, share) {
  bar.style.setProperty('--share', Math.min(1, share ?? 0));
}
