import * as names from '../lib/names.js';

export const setup = async () => ({ io: await names.io() });
