/** Legend of a chart: names of its lines, with values. Each is a button that hides its line. */
import { element, setText } from './dom.js';
import { format } from './format.js';
import { colour } from './theme.js';

const colours = 8;

/** @param {number} place of a line, from 0 */
export const stroke = (place) => colour(`--line-${(place % colours) + 1}`);

export class Legend {
  /** Names of hidden lines. */
  hidden = new Set();
  list = element('ul', { class: 'legend' });
  #items = [];

  /**
   * @param {{ label: string, place: number, isEmphasised?: boolean }[]} lines
   * @param {(n: number, isOn: boolean) => void} toggled
   */
  build(lines, toggled) {
    this.#items = lines.map(({ label, place, isEmphasised }, n) => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = stroke(place);
      const value = element('b');
      const isOn = !this.hidden.has(label);
      const button = element('button', {
        ...{ type: 'button', 'aria-pressed': String(isOn) },
        class: isEmphasised && 'emphasis',
      });
      button.append(swatch, label, ' ', value);
      button.addEventListener('click', () => {
        const isShown = this.hidden.delete(label);
        if (!isShown) this.hidden.add(label);
        button.setAttribute('aria-pressed', String(isShown));
        toggled(n, isShown);
      });
      return { button, swatch, value, place };
    });
    this.list.replaceChildren(...this.#items.map(({ button }) => element('li', {}, button)));
  }

  tell(values, unit) {
    this.#items.forEach(({ value }, n) => {
      setText(value, format(values[n], unit));
    });
  }

  /** Redraws after a change of colours. */
  recolour() {
    for (const { swatch, place } of this.#items) swatch.style.background = stroke(place);
  }
}
