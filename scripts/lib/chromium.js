/** The browser of the page tests: the Chromium or Chrome that is installed. */
import { find } from '../debian.js';
import { which } from './which.js';

/** undefined when there is none. */
export const executablePath =
  process.env.CHROMIUM_PATH ||
  find('chromium') ||
  which('chromium-browser') ||
  which('google-chrome');

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
