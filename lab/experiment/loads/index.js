import { requests } from './requests.js';

/** What an experiment can load its server with; a new kind is a file beside this one. */
export const loads = { requests };
