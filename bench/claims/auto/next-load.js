/** A page, and all that a browser loads for it; the names of these files change with each build. */
import { bareLoad } from './bare-load.js';

const FILES = /(?:src|href)="(\/[^"]+\.(?:css|js|svg))"/g;

export default async function load(options) {
  const page = await (await fetch(options.url)).text();
  const files = new Set([...page.matchAll(FILES)].map(([, path]) => path));
  return bareLoad(['/', ...files])(options);
}
