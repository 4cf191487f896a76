/** The report of observe mode, as the terminal shows it. */
import { find, setText } from './dom.js';

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} shows how things are
 */
export function startReport(view) {
  const section = find('#report');
  const text = section.querySelector('pre');
  return () => {
    const reports = view.selected.filter(({ report }) => report !== null);
    section.hidden = reports.length === 0;
    const parts = reports.map(({ info, report }) =>
      reports.length === 1 ? report.text : `Process ${info.id}\n\n${report.text}`,
    );
    setText(text, parts.join('\n'));
  };
}
