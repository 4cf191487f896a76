/** Subjects. Only the requested one is loaded. */
export const subjects = {
  'millrace direct': async () => {
    const { BatchEmitter } = await import('millrace');
    return new BatchEmitter({ policy: 'direct' });
  },
  'millrace adaptive': async () => {
    const { BatchEmitter } = await import('millrace');
    return new BatchEmitter();
  },
  'millrace retaining': async () => {
    const { BatchEmitter } = await import('millrace');
    return new BatchEmitter({ retain: { max: 1000 } });
  },
  'node:events': async () => {
    const { EventEmitter } = await import('node:events');
    return new EventEmitter();
  },
  eventemitter3: async () => {
    const { EventEmitter } = await import('eventemitter3');
    return new EventEmitter();
  },
};
