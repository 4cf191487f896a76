/** Loads for ever. */
await new Promise(() => {});

export default (task) => task;
