import { $, toast } from './elements.js';
import { connection } from './link.js';
import { showLog, toEnd } from './log.js';
import { showSend } from './sides.js';
import { state } from './state.js';
import { acceptFiles, upload } from './uploads.js';

/** Writing and sending. */

const TYPING_REPEAT_MS = 3_000;
const text = $('text');
const log = $('log');

let typingSentAt = 0;
let typingTimer;

function tellTyping(on) {
  clearTimeout(typingTimer);
  if (on) typingTimer = setTimeout(() => tellTyping(false), TYPING_REPEAT_MS + 1000);
  if (!state.current || (!on && typingSentAt === 0)) return;
  if (on && Date.now() - typingSentAt < TYPING_REPEAT_MS) return;
  typingSentAt = on ? Date.now() : 0;
  connection.send({ t: 'typing', room: state.current.name, on });
}

function say(body) {
  const room = state.current;
  const ref = crypto.getRandomValues(new Uint32Array(2)).join('-');
  const item = { ref, text: body, at: Date.now(), problem: undefined };
  if (!connection.send({ t: 'msg', room: room.name, text: body, ref })) {
    item.problem = 'There is no connection.';
  }
  room.outbox.push(item);
  showLog(true);
}

/** Grows with its text, up to a third of the window. */
export function fit() {
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight, innerHeight / 3)}px`;
  const left = state.limits.text - text.value.length;
  $('count').hidden = left > 200;
  $('count').textContent = left >= 0 ? `${left} characters left` : `${-left} characters too many`;
  $('count').classList.toggle('problem', left < 0);
  showSend();
}

text.addEventListener('input', () => {
  fit();
  tellTyping(text.value.trim() !== '');
});

$('composer').onsubmit = (event) => {
  event.preventDefault();
  const body = text.value.replace(/\r\n?/g, '\n').trim();
  if (body === '' || !state.current) return;
  if (body.length > state.limits.text) {
    toast(`A message has at most ${state.limits.text} characters; this one has ${body.length}.`);
    return;
  }
  text.value = '';
  fit();
  tellTyping(false);
  state.current.lastSeen = null;
  say(body);
};

text.addEventListener('keydown', (event) => {
  // Enter while a candidate of an input method is open chooses it, and does not send.
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $('composer').requestSubmit();
  }
  if (event.key === 'PageUp' || event.key === 'PageDown') {
    event.preventDefault();
    log.scrollBy({ top: (event.key === 'PageUp' ? -0.8 : 0.8) * log.clientHeight });
  }
});

acceptFiles((files) => {
  if (!state.current) return;
  upload(state.current.name, files, { session: state.session, maxBytes: state.limits.file });
});

log.addEventListener('retry', ({ detail }) => say(detail.text));

$('to-newest').onclick = () => {
  toEnd();
  text.focus();
};
