/** The table of processes, where there are several. */
import { element, find } from './dom.js';
import { format } from './format.js';
import { Span } from './series.js';

/** A process without a sample for so long is busy with something else. */
const silentSeconds = 4;
const columns = [
  ['Busy', 'share', (span) => span.level('loop_utilization', { across: 'max' })],
  [
    'Loop p99',
    'ms',
    (span) => span.level('loop_delay_ms', { where: { quantile: '0.99' }, across: 'max' }),
  ],
  ['Memory', 'bytes', (span) => span.level('process_resident_memory_bytes')],
];

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} shows how things are
 */
export function startProcesses(view) {
  const section = find('#processes');
  const table = section.querySelector('table');
  const head = ['Process', 'Role', 'Script', 'State', ...columns.map(([title]) => title)];
  const body = element('tbody');
  table.replaceChildren(
    element(
      'thead',
      {},
      element('tr', {}, ...head.map((title) => element('th', { scope: 'col' }, title))),
    ),
    body,
  );
  return () => {
    const processes = [...view.store.processes.values()];
    section.hidden = processes.length < 2;
    if (section.hidden) return;
    body.replaceChildren(...processes.map((process) => row(process, view)));
  };
}

function row(process, { end, connection, process: selected }) {
  const { id, role, title, endedAt } = process.info;
  const span = new Span([process], end - 3, end);
  const isSilent = ![...Array(silentSeconds).keys()].some((n) => process.has(end - n));
  const isUnheard = isSilent || connection === 'lost';
  const state = endedAt !== null ? 'ended' : isUnheard ? 'no answer' : 'live';
  const cells = [role, title, state].map((text) => element('td', {}, text));
  const values = columns.map(([, unit, valuesOf]) => {
    const value = endedAt === null ? valuesOf(span).findLast((each) => each !== null) : null;
    return element('td', { class: 'number' }, format(value, unit));
  });
  const name = element('th', { scope: 'row' }, id);
  return element(
    'tr',
    { 'aria-current': id === selected && 'true', class: state },
    name,
    ...cells,
    ...values,
  );
}
