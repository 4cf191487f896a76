/** The list of pages, which a narrow screen shows on demand. */

export function startMenu() {
  const button = document.getElementById('site-menu-button');
  const menu = document.getElementById('site-menu');
  const show = (isOpen) => {
    menu.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => show(!menu.classList.contains('open')));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !menu.classList.contains('open')) return;
    show(false);
    button.focus();
  });
  // The page that is open is in sight in a long list.
  const current = menu.querySelector('[aria-current]');
  if (current) menu.scrollTop = current.offsetTop - menu.clientHeight / 2;
}
