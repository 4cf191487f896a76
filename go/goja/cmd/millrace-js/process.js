// Makes process what scripts expect of it. Returns what the command itself calls.
(process, native, global) => {
  const listeners = new Map();

  function add(event, listener, once) {
    if (typeof listener !== 'function')
      throw new TypeError('process.on: the listener has to be a function');
    if (!listeners.has(event)) listeners.set(event, []);
    listeners.get(event).push({ listener, once });
    return process;
  }

  function remove(event, listener) {
    const list = listeners.get(event) ?? [];
    const index = list.findLastIndex((each) => each.listener === listener);
    if (index >= 0)
      listeners.set(
        event,
        list.filter((_, i) => i !== index),
      );
    return process;
  }

  function emit(event, ...args) {
    const list = listeners.get(event) ?? [];
    for (const { listener, once } of [...list]) {
      if (once) remove(event, listener);
      Reflect.apply(listener, process, args);
    }
    return list.length > 0;
  }

  let exitCode;
  function setExitCode(code) {
    const number = typeof code === 'string' && code !== '' ? Number(code) : code;
    if (code !== undefined && code !== null && !Number.isInteger(number)) {
      const shown = global.require('util').inspect(code);
      throw typeof code === 'number'
        ? Object.assign(
            new RangeError(
              `The value of "code" is out of range. It must be an integer. Received ${shown}`,
            ),
            { code: 'ERR_OUT_OF_RANGE' },
          )
        : Object.assign(
            new TypeError(
              `The "code" argument must be of type number. Received type ${typeof code} (${shown})`,
            ),
            { code: 'ERR_INVALID_ARG_TYPE' },
          );
    }
    exitCode = code;
  }

  let leaving = false;
  function leave(status) {
    if (status) exitCode = status;
    if (!leaving) {
      leaving = true;
      emit('exit', Number(exitCode ?? 0));
    }
    return Number(exitCode ?? 0);
  }

  function hrtime(since) {
    const now = native.now();
    let [seconds, nanoseconds] = [Math.floor(now / 1e9), now % 1e9];
    if (since !== undefined) {
      seconds -= since[0];
      nanoseconds -= since[1];
      if (nanoseconds < 0) [seconds, nanoseconds] = [seconds - 1, nanoseconds + 1e9];
    }
    return [seconds, nanoseconds];
  }
  hrtime.bigint = () => BigInt(native.now());

  const stream = (write) => ({
    write(text, encoding, callback) {
      write(String(text));
      const done = typeof encoding === 'function' ? encoding : callback;
      if (typeof done === 'function') process.nextTick(done);
      return true;
    },
  });

  Object.assign(process, {
    argv: [...native.argv],
    execPath: native.argv[0],
    version: native.version,
    versions: { ...native.versions },
    pid: native.pid,
    platform: native.platform || native.os,
    arch: native.arch || native.cpu,
    cwd: () => native.cwd(),
    uptime: () => native.now() / 1e9,
    hrtime,
    exit(status) {
      if (status !== undefined) setExitCode(status);
      native.exit(leave(0) & 0xff);
    },
    stdout: stream(native.stdout),
    stderr: stream(native.stderr),
    on: (event, listener) => add(event, listener, false),
    once: (event, listener) => add(event, listener, true),
    off: remove,
    removeListener: remove,
    emit,
  });
  Object.defineProperty(process, 'env', {
    // Values are text.
    value: new Proxy(
      { ...process.env },
      { set: (env, name, value) => Reflect.set(env, name, `${value}`) },
    ),
    writable: true,
    enumerable: true,
    configurable: true,
  });
  Object.defineProperty(process, 'exitCode', {
    get: () => exitCode,
    set: setExitCode,
    enumerable: true,
  });

  global.global = global;
  global.performance = { now: () => native.now() / 1e6, timeOrigin: native.origin };
  return { emit, leave, beforeExit: () => emit('beforeExit', Number(exitCode ?? 0)) };
};
