/** The element with this id. */
export const $ = (id) => document.getElementById(id);

/**
 * Makes an element. Text goes in as text nodes only, so that nothing a user wrote is ever read as markup.
 * @param {string} tag
 * @param {object} properties of the element; `class`, `data` and attributes with a hyphen or `role` are set as such
 * @param {...(Node | string | null)} children
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  // A button in a form submits it unless told otherwise.
  if (tag === 'button') element.type = 'button';
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name === 'class') element.className = value;
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name.includes('-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A round picture for a name: its first character on a colour that is always the same for that name. */
export function avatar(name) {
  const [first] = new Intl.Segmenter().segment(name);
  const element = make(
    'span',
    { class: 'avatar', 'aria-hidden': 'true' },
    first.segment.toUpperCase(),
  );
  let hash = 7;
  for (const char of name) hash = (hash * 31 + char.codePointAt(0)) % 9973;
  element.style.setProperty('--hue', String((hash * 47) % 360));
  return element;
}

/** A short message that goes away by itself. */
export function toast(text) {
  const element = make('p', { class: 'toast' }, text);
  $('toasts').append(element);
  setTimeout(() => element.remove(), 6000);
}

/** Opens a menu at a button. `items` are [label, action] pairs; arrows move, Escape and leaving close it. */
export function openMenu(button, items) {
  const menu = $('menu');
  const close = (isBack) => {
    menu.hidden = true;
    menu.replaceChildren();
    button.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', onOutside);
    menu.onkeydown = null;
    if (isBack) button.focus();
  };
  const onOutside = (event) => {
    if (!menu.contains(event.target)) close(false);
  };
  menu.replaceChildren(
    ...items.map(([label, action, isDangerous]) =>
      make(
        'button',
        {
          role: 'menuitem',
          tabIndex: -1,
          class: isDangerous ? 'danger' : undefined,
          onclick: () => {
            close(true);
            action();
          },
        },
        label,
      ),
    ),
  );
  menu.onkeydown = (event) => {
    const all = [...menu.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) {
      all.at(to % all.length).focus();
      event.preventDefault();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      close(true);
      event.preventDefault();
      event.stopPropagation();
    }
  };
  menu.hidden = false;
  button.setAttribute('aria-expanded', 'true');
  const at = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = menu;
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - offsetWidth - 8))}px`;
  menu.style.top = `${at.bottom + offsetHeight + 8 > innerHeight ? at.top - offsetHeight - 4 : at.bottom + 4}px`;
  menu.firstChild.focus();
  document.addEventListener('pointerdown', onOutside);
}
