import { closePanels, openPanel, showTheme } from './chrome.js';
import { $, toast } from './elements.js';
import './frames.js';
import { connection } from './link.js';
import { toEnd } from './log.js';
import { enter, roomFromHash, step } from './navigation.js';
import './saved.js';
import { showName, showRoom, showRooms } from './sides.js';
import { memory, RoomState, savedRooms, state } from './state.js';

const text = $('text');

$('nick').onsubmit = (event) => {
  event.preventDefault();
  const name = $('nick-name').value.trim();
  if (name === state.me) showName();
  else if (name !== '' && !connection.send({ t: 'nick', name })) toast('There is no connection.');
  text.focus();
};

$('nick-name').oninput = ({ target }) => {
  $('nick-save').hidden = target.value.trim() === state.me;
};

addEventListener('keydown', (event) => {
  if (document.querySelector('dialog[open]')) return;
  const isWriting = event.target.matches('input, textarea');
  if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    event.preventDefault();
    step(event.key === 'ArrowUp' ? -1 : 1);
  } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    if (matchMedia('(max-width: 760px)').matches) openPanel('rooms-panel');
    $('join-room').focus();
  } else if (event.key === 'Escape') {
    if (closePanels()) return;
    toEnd();
    text.focus();
  } else if (event.key === '/' && !isWriting) {
    event.preventDefault();
    text.focus();
  } else if (event.key === '?' && !isWriting) {
    $('help').showModal();
  }
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden || !state.current) return;
  state.current.unread = 0;
  showRooms();
});

function start() {
  for (const name of savedRooms()) state.rooms.set(name, new RoomState(name));
  connection.connect();
  const first = roomFromHash() || [...state.rooms.keys()][0] || 'lobby';
  if (roomFromHash() === first) enter(first);
  else location.hash = encodeURIComponent(first);
}

showTheme();
showRoom();
if (memory.get('name')) start();
else {
  const welcome = $('welcome');
  $('welcome-where').hidden = roomFromHash() === '';
  $('welcome-room').textContent = roomFromHash();
  welcome.showModal();
  welcome.addEventListener('cancel', (event) => event.preventDefault());
  $('welcome-form').onsubmit = (event) => {
    event.preventDefault();
    const name = $('welcome-name').value.trim();
    if (
      !/^[\p{L}\p{N}\p{Extended_Pictographic}][\p{L}\p{M}\p{N}\p{Extended_Pictographic} ._-]*$/u.test(
        name,
      )
    ) {
      $('welcome-problem').textContent =
        'A name starts with a letter, digit or emoji and goes on with those, spaces, dots, hyphens and underscores.';
      return;
    }
    memory.set('name', name);
    welcome.close();
    start();
  };
}
