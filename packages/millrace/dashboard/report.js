/** Reports of observe mode, as the terminal shows them: one for each process, that of the first one open. */
import { element, find, setText } from './dom.js';

const nameOf = ({ id, role, title }) => `${id} · ${role} · ${title}`;

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} shows how things are
 */
export function startReport(view) {
  const section = find('#report');
  const list = section.querySelector('div');
  const items = new Map();

  function item({ info }) {
    const text = element('pre', { tabindex: '0' });
    const name = element('summary', {}, nameOf(info));
    const isFirst = items.size === 0;
    return { text, details: element('details', { open: isFirst }, name, text) };
  }

  return () => {
    const processes = view.selected.filter(({ report }) => report !== null);
    section.hidden = processes.length === 0;
    for (const process of processes) {
      if (!items.has(process.info.id)) items.set(process.info.id, item(process));
    }
    const shown = processes.map(({ info }) => items.get(info.id).details);
    if (
      shown.length !== list.children.length ||
      shown.some((each, n) => each !== list.children[n])
    ) {
      list.replaceChildren(...shown);
    }
    for (const { info, report } of processes) {
      const { text } = items.get(info.id);
      // Somebody who is about to copy a command must not lose it.
      const selection = getSelection();
      if (!selection.isCollapsed && selection.containsNode(text, true)) continue;
      setText(text, report.text);
    }
  };
}
