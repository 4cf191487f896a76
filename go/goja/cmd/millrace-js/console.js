// The methods of console that goja_nodejs does not have.
(console, { format, inspect }, performance) => {
  let margin = '';
  for (const name of ['log', 'info', 'debug', 'warn', 'error']) {
    const print = console[name];
    console[name] = (...args) =>
      margin === ''
        ? print(...args)
        : print(margin + format(...args).replaceAll('\n', `\n${margin}`));
  }
  const { log, warn } = console;

  const counts = new Map();
  const starts = new Map();
  function elapsed(label, ...args) {
    if (!starts.has(label)) return;
    const ms = performance.now() - starts.get(label);
    const time = ms < 1000 ? `${Number(ms.toFixed(3))}ms` : `${(ms / 1000).toFixed(3)}s`;
    log(`${label}: ${time}`, ...args);
  }

  Object.assign(console, {
    dir: (value, options) => log(inspect(value, options)),
    assert(condition, ...args) {
      if (condition) return;
      const text = args.length > 0 ? `: ${args.shift()}` : '';
      warn(`Assertion failed${text}`, ...args);
    },
    count(label = 'default') {
      counts.set(`${label}`, (counts.get(`${label}`) ?? 0) + 1);
      log(`${label}: ${counts.get(`${label}`)}`);
    },
    countReset: (label = 'default') => void counts.delete(`${label}`),
    group(...label) {
      if (label.length > 0) log(...label);
      margin += '  ';
    },
    groupEnd() {
      margin = margin.slice(2);
    },
    time(label = 'default') {
      if (!starts.has(`${label}`)) starts.set(`${label}`, performance.now());
    },
    timeLog: (label = 'default', ...args) => elapsed(`${label}`, ...args),
    timeEnd(label = 'default') {
      elapsed(`${label}`);
      starts.delete(`${label}`);
    },
  });
  console.groupCollapsed = console.group;
};
