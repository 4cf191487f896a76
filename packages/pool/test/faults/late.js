/** Takes some time to load. */
await new Promise((resolve) => setTimeout(resolve, 30));

export default (task) => task;
