import { $ } from './elements.js';
import { state } from './state.js';

/** Shows what batching saves on this server: frames delivered, and the writes they took. Asks only while somebody can see it. */

const REFRESH_MS = 2_000;
const number = new Intl.NumberFormat('en-US');

function words({ policy, delivered_frames: frames, socket_writes: writes }) {
  const counts = `${number.format(frames)} frames in ${number.format(writes)} writes`;
  if (policy === 'direct') return `Without batching: ${counts}`;
  const saved = frames > 0 ? Math.round((1 - writes / frames) * 100) : 0;
  return saved > 0 ? `${saved} % of writes saved: ${counts}` : `No writes saved yet: ${counts}`;
}

async function refresh() {
  if (document.hidden || state.connection !== 'online') return;
  if (getComputedStyle($('rooms-panel')).visibility !== 'visible') return;
  const response = await fetch('/stats').catch(() => null);
  if (!response?.ok) return;
  $('saved').textContent = words(await response.json());
  $('saved').hidden = false;
}

setInterval(refresh, REFRESH_MS);
$('open-rooms').addEventListener('click', refresh);
