/** @param {string} selector */
export const find = (selector) => document.querySelector(selector);

/**
 * An element with attributes and children.
 * @param {string} tag
 * @param {Record<string, string | boolean | null | undefined>} attributes false, null and undefined leave one out
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

/** Sets the text unless it is there already: what reads the page aloud need not hear it again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
