/** Tables and code that are wider than the page scroll; so that the keys can scroll them, they take the focus. */

export function startScrollers() {
  const boxes = [...document.querySelectorAll('.table, pre')];
  const settle = (box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute('tabindex');
  };
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) settle(target);
  });
  for (const box of boxes) observer.observe(box);
}
