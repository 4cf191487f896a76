/** The page: what comes from the server goes into the store, and once a second the page shows it. */
import { startControls } from './controls.js';
import { find } from './dom.js';
import { startFeatures } from './features.js';
import { Charts } from './grid.js';
import { startNotice } from './notice.js';
import { startProcesses } from './processes.js';
import { startReport } from './report.js';
import { startStalls } from './stalls.js';
import { Store } from './store.js';
import { openStream } from './stream.js';
import { startTheme } from './theme.js';
import { startTiles } from './tiles.js';
import { View } from './view.js';

/** Time in ms for which ended processes are shown, as by the server. */
const shownEndedMs = 60_000;

const store = new Store();
const view = new View(store);
const charts = new Charts(view);
const showNotice = startNotice(view);
const parts = [
  startControls(view, charts),
  startStalls(view),
  startTiles(view),
  startFeatures(view),
  startProcesses(view),
  startReport(view),
  () => charts.update(),
];

let isDue = false;
/** Several samples of one second are drawn at once. */
function show() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    showNotice();
    if (store.latest > 0) for (const part of parts) part();
  });
}

view.addEventListener('change', show);
startTheme(find('#theme'), () => charts.redraw());

const handlers = {
  hello: (hello) => store.hello(hello),
  sample: (sample) => store.sample(sample),
  process: (info) => store.put(info),
  forgotten: ({ id }) => store.forget(id),
  mark: (mark) => store.mark(mark),
  report: (report) => store.report(report),
  watch: (watch) => store.watch(watch),
};
const shown = Object.entries(handlers).map(([kind, handle]) => [
  kind,
  (data) => {
    handle(data);
    show();
  },
]);
openStream(Object.fromEntries(shown), (connection) => view.set({ connection }));
setInterval(() => {
  store.forgetEnded(Date.now(), shownEndedMs);
  show();
}, 5000);
