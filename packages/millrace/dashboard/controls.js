/** The controls at the top: process, time range, pause, zoom, export. */
import { element, find } from './dom.js';
import { download, toCsv, toJson } from './export.js';
import { ranges } from './view.js';

const nameOf = ({ id, role, title, endedAt }) =>
  `${id} · ${role === 'main' ? '' : `${role} · `}${title}${endedAt === null ? '' : ' (ended)'}`;

/**
 * @param {import('./view.js').View} view
 * @param {import('./grid.js').Charts} charts
 * @returns {() => void} shows how things are
 */
export function startControls(view, charts) {
  const [process, pause, unzoom] = ['#process', '#pause', '#unzoom'].map(find);
  const radios = ranges.map(({ seconds, label }) => {
    const input = element('input', {
      ...{ type: 'radio', name: 'range', value: String(seconds) },
      checked: seconds === view.seconds,
    });
    input.addEventListener('change', () => view.set({ seconds, zoom: null }));
    find('#ranges').append(element('label', {}, input, element('span', {}, label)));
    return { input, seconds };
  });
  process.addEventListener('change', () => {
    charts.forgetData();
    view.set({ process: process.value });
  });
  pause.addEventListener('click', () => view.togglePause());
  unzoom.addEventListener('click', () => view.set({ zoom: null }));
  find('#export-json').addEventListener('click', () =>
    download('millrace.json', 'application/json', toJson(view, charts.shown)),
  );
  find('#export-csv').addEventListener('click', () =>
    download('millrace.csv', 'text/csv', toCsv(view, charts.shown)),
  );

  return () => {
    showProcesses(process, view);
    for (const { input, seconds } of radios) input.checked = seconds === view.seconds;
    const isPaused = view.pausedAt !== null;
    pause.setAttribute('aria-pressed', String(isPaused));
    pause.textContent = isPaused ? 'Resume' : 'Pause';
    unzoom.hidden = view.zoom === null;
  };
}

/** @param {HTMLSelectElement} select */
function showProcesses(select, view) {
  const infos = [...view.store.processes.values()].map(({ info }) => info);
  const options = [
    ['all', infos.length === 1 ? nameOf(infos[0]) : `all ${infos.length} processes`],
    ...(infos.length === 1 ? [] : infos.map((info) => [info.id, nameOf(info)])),
  ];
  const wanted = JSON.stringify(options);
  // An open list must not be replaced under the pointer each second.
  if (select.dataset.options !== wanted) {
    select.dataset.options = wanted;
    select.replaceChildren(...options.map(([value, text]) => element('option', { value }, text)));
  }
  if (!options.some(([id]) => id === view.process)) view.process = 'all';
  select.value = view.process;
}
