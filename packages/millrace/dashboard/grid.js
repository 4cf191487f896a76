/** Charts of the page, and one line about the charts without data. */
import { Chart } from './chart.js';
import { charts } from './charts.js';
import { find, setText } from './dom.js';
import { count } from './format.js';

export class Charts {
  /** @param {import('./view.js').View} view */
  constructor(view) {
    this.view = view;
    this.all = charts.map((definition) => new Chart(definition, view));
    find('#charts').replaceChildren(...this.all.map(({ card }) => card));
  }

  get shown() {
    return this.all.filter(({ isShown }) => isShown);
  }

  update() {
    const { span } = this.view;
    find('#hint').hidden = false;
    for (const chart of this.all) chart.update(span);
    const quiet = this.all.filter(({ isShown }) => !isShown);
    const line = find('#unused');
    line.hidden = quiet.length === 0;
    const names = quiet.map(({ definition }) => definition.title);
    setText(line.querySelector('summary'), `${count(quiet.length, 'chart')} without data`);
    setText(line.querySelector('p'), `Not used here: ${names.join('; ').toLowerCase()}.`);
  }

  redraw() {
    for (const chart of this.all) chart.redraw();
  }

  /** Forgets the charts' data: another process may have data for other charts. */
  forgetData() {
    for (const chart of this.all) chart.forgetData();
  }
}
