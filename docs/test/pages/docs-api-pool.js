import { setup as setupOfGuide } from './docs-reference-pool.js';

export const setup = () => setupOfGuide('a-first-example-2');
