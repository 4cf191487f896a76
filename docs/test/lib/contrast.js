/**
 * The texts of a page whose contrast is below 4.5 to 1, as WCAG counts it. Runs in the page.
 *
 * @returns {string[]} elements and colours
 */
export function pale() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const parts = numbers(colour)
      .slice(0, 3)
      .map((part) => part / 255);
    const [r, g, b] = parts.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isClear = (colour) => numbers(colour)[3] === 0;
  const behind = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return isClear(backgroundColor) ? behind(element.parentElement) : backgroundColor;
  };
  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const found = new Set();
  for (const element of document.body.querySelectorAll('*')) {
    if (!hasText(element) || !element.checkVisibility()) continue;
    const [front, back] = [getComputedStyle(element).color, behind(element)];
    const [dark, light] = [luminance(front), luminance(back)].sort((a, b) => a - b);
    if ((light + 0.05) / (dark + 0.05) < 4.5)
      found.add(`${element.localName}.${element.className}: ${front} on ${back}`);
  }
  return [...found];
}
