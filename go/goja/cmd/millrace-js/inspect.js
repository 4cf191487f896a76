// util.inspect and util.format, so that console shows objects in the way of Node.js.
(exports, promiseState) => {
  const most = 100;
  const identifier = /^[A-Za-z_$][\w$]*$/;

  const quote = (text) => {
    const mark = !text.includes("'")
      ? "'"
      : !text.includes('"')
        ? '"'
        : !text.includes('`')
          ? '`'
          : "'";
    // What JSON leaves as it is, or writes as \u00.., is \x.. here.
    const escaped = JSON.stringify(text)
      .slice(1, -1)
      .replaceAll('\\"', '"')
      .replace(/\\\\|\\u00(..)|[\x7f-\x9f]/g, (all, hex) =>
        all === '\\\\' ? all : `\\x${(hex ?? all.charCodeAt(0).toString(16)).toUpperCase()}`,
      );
    return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
  };

  const nameOf = (key) => {
    if (typeof key === 'symbol') return `[${String(key)}]`;
    return identifier.test(key) ? key : quote(key);
  };

  const className = (value) => {
    for (let proto = value; proto !== null; proto = Object.getPrototypeOf(proto)) {
      const maker = Object.getOwnPropertyDescriptor(proto, 'constructor')?.value;
      if (typeof maker === 'function' && maker.name) return maker.name;
    }
    return null;
  };

  function primitive(value) {
    switch (typeof value) {
      case 'string':
        return quote(value);
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return value.toString();
      default:
        return Object.is(value, -0) ? '-0' : String(value);
    }
  }

  // The stack without the frames of the command itself and without goja's program counters.
  const stackOf = (error) =>
    String(error.stack)
      .trimEnd()
      .split('\n')
      .filter((line) => !/^\tat .*(millrace:|millrace\.dev\/go\/goja)/.test(line))
      .map((line) => line.replace(/^\tat (.*?)\(\d+\)(\)?)$/, '    at $1$2'))
      .join('\n');

  function inspect(value, options) {
    const depth = options?.depth === null ? Infinity : (options?.depth ?? 2);
    const path = [];
    const circular = [];
    let currentDepth = 0; // of the object that was shown last

    function show(value, indent) {
      if (value === null || (typeof value !== 'object' && typeof value !== 'function'))
        return primitive(value);
      if (path.includes(value)) {
        if (!circular.includes(value)) circular.push(value);
        return `[Circular *${circular.indexOf(value) + 1}]`;
      }
      const depthHere = path.length;
      const [head, open, close, items] = parts(value, indent);
      if (items === null) return head;
      const mark = circular.includes(value) ? `<ref *${circular.indexOf(value) + 1}> ` : '';
      const begin = mark + (head ? `${head} ` : '') + open;
      if (items.length === 0) return begin + close;
      // On one line if that is short enough, and if no more than three levels are in it.
      const length =
        items.reduce((sum, item) => sum + item.length, 0) +
        2 * items.length +
        indent +
        begin.length +
        10;
      const fits =
        length <= 80 && currentDepth - depthHere < 3 && !items.some((item) => item.includes('\n'));
      if (fits) return `${begin} ${items.join(', ')} ${close}`;
      const margin = ' '.repeat(indent + 2);
      return `${begin}\n${margin}${items.join(`,\n${margin}`)}\n${' '.repeat(indent)}${close}`;
    }

    // Head, brackets and entries of an object; entries are null if the head says it all.
    function parts(value, indent) {
      const name = className(value);
      const plain = name === null ? '[Object: null prototype]' : name === 'Object' ? '' : name;
      let keys = Reflect.ownKeys(value).filter((key) =>
        Object.prototype.propertyIsEnumerable.call(value, key),
      );
      let head = plain;
      let [open, close] = ['{', '}'];
      if (value instanceof Error) {
        head = value.stack ? stackOf(value) : `[${value}]`;
        keys = keys.filter((key) => key !== 'stack' && key !== 'message');
        if (keys.length === 0) return [head, '', '', null];
      } else if (typeof value === 'function') {
        const isClass = Function.prototype.toString.call(value).startsWith('class');
        head = isClass
          ? `[class ${value.name || '(anonymous)'}]`
          : `[Function${value.name ? `: ${value.name}` : ' (anonymous)'}]`;
        if (keys.length === 0) return [head, '', '', null];
      } else if (value instanceof Date) {
        return [Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString(), '', '', null];
      } else if (value instanceof RegExp) {
        return [String(value), '', '', null];
      } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
        return [`[${name}: ${primitive(value.valueOf())}]`, '', '', null];
      }
      const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && 'length' in value);
      if (isList) {
        [open, close] = ['[', ']'];
        head = name === 'Array' ? '' : `${name}(${value.length})`;
        keys = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
      } else if (value instanceof Map || value instanceof Set) {
        head = `${name}(${value.size})`;
      }
      if (path.length > depth)
        return [isList ? '[Array]' : `[${name ?? 'Object: null prototype'}]`, '', '', null];

      currentDepth = path.length;
      path.push(value);
      const items = [];
      const inner = indent + 2;
      const more = (count) => {
        if (count > most) items.push(`... ${count - most} more item${count - most > 1 ? 's' : ''}`);
      };
      if (isList) {
        for (let i = 0; i < Math.min(value.length, most); i++) {
          const from = i;
          while (i < value.length && !(i in value)) i++;
          if (i > from) items.push(`<${i - from} empty item${i - from > 1 ? 's' : ''}>`);
          if (i < value.length) items.push(show(value[i], inner));
        }
        more(value.length);
      } else if (value instanceof Map) {
        for (const [k, v] of [...value].slice(0, most))
          items.push(`${show(k, inner)} => ${show(v, inner)}`);
        more(value.size);
      } else if (value instanceof Set) {
        for (const each of [...value].slice(0, most)) items.push(show(each, inner));
        more(value.size);
      } else if (value instanceof Promise) {
        const [state, result] = promiseState(value);
        items.push(
          state === 'pending'
            ? '<pending>'
            : (state === 'rejected' ? '<rejected> ' : '') + show(result, inner),
        );
      }
      for (const key of keys) {
        const { get, set, value: content } = Object.getOwnPropertyDescriptor(value, key);
        const text = get
          ? set
            ? '[Getter/Setter]'
            : '[Getter]'
          : set
            ? '[Setter]'
            : show(content, inner);
        items.push(`${nameOf(key)}: ${text}`);
      }
      path.pop();
      return [head, open, close, items];
    }

    return show(value, 0);
  }

  function format(...args) {
    let text = '';
    let next = 0;
    if (typeof args[0] === 'string') {
      next = 1;
      text = args[0];
      if (args.length > 1) {
        text = text.replace(/%[sdifjoOc%]/g, (mark) => {
          if (mark === '%%') return '%';
          if (next >= args.length) return mark;
          const value = args[next++];
          switch (mark) {
            case '%s':
              return typeof value === 'string'
                ? value
                : typeof value === 'object'
                  ? inspect(value, { depth: 0 })
                  : primitive(value);
            case '%d':
              return typeof value === 'bigint'
                ? `${value}n`
                : typeof value === 'symbol'
                  ? 'NaN'
                  : primitive(Number(value));
            case '%i':
              return typeof value === 'bigint'
                ? `${value}n`
                : typeof value === 'symbol'
                  ? 'NaN'
                  : primitive(Number.parseInt(value, 10));
            case '%f':
              return typeof value === 'symbol' ? 'NaN' : primitive(Number.parseFloat(value));
            case '%j':
              return String(JSON.stringify(value));
            case '%c':
              return '';
            default:
              return inspect(value, { depth: 4 });
          }
        });
      }
    }
    for (const value of args.slice(next)) {
      text += (next++ > 0 ? ' ' : '') + (typeof value === 'string' ? value : inspect(value));
    }
    return text;
  }

  Object.assign(exports, { format, inspect });
};
