import { HttpError } from './errors.js';

/** The parameters of a request, read by what is allowed. All that is wrong is a 400 that says what would be right. */
export class Query {
  #values;
  #read = new Set();

  constructor(request) {
    this.#values = request.query;
  }

  /** A whole number in decimal digits; required unless there is `otherwise`. */
  integer(name, { least, most, otherwise }) {
    const value = this.#one(name) ?? otherwise;
    const number = Number(value);
    if (!/^\d{1,15}$/.test(value) || number < least || number > most) {
      refuse(name, value, `whole numbers from ${least} to ${most}`);
    }
    return number;
  }

  oneOf(name, allowed, otherwise) {
    const value = this.#one(name) ?? otherwise;
    if (!allowed.includes(value)) refuse(name, value, allowed.join(' and '));
    return value;
  }

  flag(name) {
    return this.oneOf(name, ['0', '1'], '0') === '1';
  }

  text(name) {
    const value = this.#one(name);
    if (value === undefined || value === '') refuse(name, value, 'any text that is not empty');
    return value;
  }

  /** Call it last: parameters that nothing asked for are probably misspelt. */
  end() {
    for (const name of Object.keys(this.#values)) {
      if (this.#read.has(name)) continue;
      const known = Array.from(this.#read, (each) => JSON.stringify(each)).join(', ');
      throw new HttpError(
        'bad_parameter',
        `There is no parameter ${show(name)} here; allowed are ${known || 'none'}.`,
      );
    }
  }

  #one(name) {
    this.#read.add(name);
    const value = this.#values[name];
    if (Array.isArray(value)) refuse(name, value, 'single values');
    return value;
  }
}

function refuse(name, value, allowed) {
  const given = value === undefined ? 'is missing' : `is ${show(value)}`;
  throw new HttpError('bad_parameter', `${name} ${given}; allowed are ${allowed}.`);
}

function show(value) {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
