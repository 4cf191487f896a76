/** What the page says of itself: whether it shows what is now. */
import { find, setText } from './dom.js';
import { time } from './format.js';

const words = { live: 'Live', paused: 'Paused', lost: 'Reconnecting' };

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} shows how things are
 */
export function startNotice(view) {
  const [notice, status] = ['#notice', '#status'].map(find);
  return () => {
    const { connection, pausedAt, store } = view;
    if (connection === null) return;
    const isLost = connection === 'lost';
    const state = !isLost && pausedAt !== null ? 'paused' : connection;
    document.body.dataset.state = state;
    setText(status, words[state]);
    notice.hidden = store.latest > 0 && !isLost;
    if (isLost) setText(notice, lost(store.latest));
    const main = [...store.processes.values()].find(({ info }) => info.role === 'main');
    document.title = main === undefined ? 'Millrace' : `${main.info.title} · Millrace`;
  };
}

function lost(latest) {
  if (latest === 0) return 'The application does not answer. This page goes on trying.';
  return `The application does not answer. What is here is of ${time(latest)} and before; this page goes on trying.`;
}
