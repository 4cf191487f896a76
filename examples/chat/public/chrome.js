import { $ } from './elements.js';
import { memory } from './state.js';

/** Theme, side panels on narrow windows, help. */

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export function showTheme() {
  const chosen = memory.get('theme');
  const isDark = chosen ? chosen === 'dark' : prefersDark.matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  $('theme').setAttribute('aria-pressed', String(isDark));
}

prefersDark.addEventListener('change', showTheme);
$('theme').onclick = () => {
  memory.set('theme', document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  showTheme();
};

const panels = { 'rooms-panel': $('open-rooms'), 'people-panel': $('open-people') };

export function openPanel(id) {
  closePanels();
  $(id).classList.add('open');
  panels[id].setAttribute('aria-expanded', 'true');
  $('scrim').hidden = false;
  $(id).querySelector('a, button, input')?.focus();
}

/** @returns {boolean} whether one was open */
export function closePanels() {
  let wasOpen = false;
  for (const [id, button] of Object.entries(panels)) {
    if (!$(id).classList.contains('open')) continue;
    wasOpen = true;
    $(id).classList.remove('open');
    button.setAttribute('aria-expanded', 'false');
    button.focus();
  }
  $('scrim').hidden = true;
  return wasOpen;
}

for (const [id, button] of Object.entries(panels)) button.onclick = () => openPanel(id);
$('scrim').onclick = closePanels;
$('help-button').onclick = () => $('help').showModal();
