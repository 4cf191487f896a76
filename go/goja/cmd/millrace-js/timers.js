// The modules timers and timers/promises.
(exports, name) => {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } =
    globalThis;
  const promises = {
    setTimeout: (delay, value) =>
      new Promise((resolve) => {
        setTimeout(resolve, delay, value);
      }),
    setImmediate: (value) =>
      new Promise((resolve) => {
        setImmediate(resolve, value);
      }),
  };
  if (name === 'timers/promises') Object.assign(exports, promises);
  else {
    Object.assign(exports, {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout,
      clearInterval,
      clearImmediate,
      promises,
    });
  }
};
