import { binding } from '../native/load.js';
import type { FileBackend } from './backend.js';
import { javascriptBackend } from './javascript.js';
import { nativeBackend } from './native.js';

/** The backend of this process. */
export const backend: FileBackend = binding === null ? javascriptBackend : nativeBackend(binding);
