import { setup as setupOfGuide } from './docs-pool.js';

export const setup = () => setupOfGuide('a-first-example-2');
