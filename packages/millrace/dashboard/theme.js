/** Light, dark, or as the system has it. */
const names = ['system', 'light', 'dark'];
const key = 'millrace-theme';

/**
 * @param {HTMLButtonElement} button
 * @param {() => void} changed called after each change, by the button or by the system
 */
export function startTheme(button, changed) {
  let name = localStorage.getItem(key);
  if (!names.includes(name)) name = 'system';
  const show = () => {
    document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    changed();
  };
  button.addEventListener('click', () => {
    name = names[(names.indexOf(name) + 1) % names.length];
    localStorage.setItem(key, name);
    show();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
  show();
}

/** @type {HTMLElement | undefined} takes a colour of the style sheet, one for light and one for dark, and has the one of now */
let probe;

/** @param {string} name of a custom property */
export function colour(name) {
  if (probe === undefined) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
