/** The figures at the top. */
import { tiles } from './charts.js';
import { element, find, setText } from './dom.js';
import { format } from './format.js';

/** @param {import('./view.js').View} view */
export function startTiles(view) {
  const shown = tiles.map((tile) => {
    const value = element('b');
    const item = element('li', {}, element('span', {}, tile.title), value);
    return { ...tile, item, value };
  });
  find('#tiles').replaceChildren(...shown.map(({ item }) => item));
  const seen = new Set();
  return () => {
    const { now } = view;
    for (const { title, item, value, unit, optional, values } of shown) {
      const latest = values(now).findLast((each) => each !== null);
      if (latest) seen.add(title);
      item.hidden = optional ? !seen.has(title) : latest === undefined;
      setText(value, format(latest, unit));
    }
  };
}
