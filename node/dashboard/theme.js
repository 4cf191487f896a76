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

/** @param {string} name of a custom property */
export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();
