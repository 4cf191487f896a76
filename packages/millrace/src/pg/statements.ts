/**
 * Statements by their text: which ones may share a connection, and how long they take.
 *
 * A statement that others wait behind must neither change the session nor take long nor wait for a lock. So sharing is for what is known to be
 * harmless: a single SELECT, VALUES or TABLE, or with `writes` a single statement that changes rows, whose text has been measured and is
 * quick. Words are looked for in the whole text, literals included: a false find only costs a connection of its own.
 */

/** Effect of a statement as far as its text tells. `other` may change the session, or be several statements. */
type Effect = 'read' | 'write' | 'other';

/** Space, comments and parentheses before the first word. */
const lead = /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/|\()+/;
const reads = /^(?:select|values|table|with)\b/i;
const writes = /^(?:insert|update|delete|merge)\b/i;
/** Words by which a text that begins as a read writes, or locks rows. */
const writesInside = /\b(?:insert|update|delete|merge|into)\b|\bfor\s+(?:no\s+key|key|share)\b/i;
/** Functions that change the session, or wait for a lock that a session keeps. */
const touchesSession = /\b(?:set_config|pg_(?:try_)?advisory_\w+|setseed|dblink\w*)\s*\(/i;

function effectOf(text: string): Effect {
  const body = text.replace(lead, '');
  const isRead = reads.test(body);
  if (!isRead && !writes.test(body)) return 'other';
  // More than one statement; one at the end ends the only one.
  if (body.replace(/;\s*$/, '').includes(';')) return 'other';
  if (touchesSession.test(body)) return 'other';
  return isRead && !writesInside.test(body) ? 'read' : 'write';
}

/** Weight of the newest time in the mean of a statement. */
const weight = 1 / 8;

export class Statement {
  readonly effect: Effect;
  /** Mean time on the server in ms, of late; null before the first. */
  ms: number | null = null;
  /** The name under which it is prepared; undefined before `Statements.prepare()`. */
  name: string | undefined;

  constructor(text: string) {
    this.effect = effectOf(text);
  }

  took(ms: number): void {
    this.ms = this.ms === null ? ms : this.ms + (ms - this.ms) * weight;
  }
}

/** Texts that are remembered, beyond which the oldest is measured anew; and texts that get a name. */
const most = 1000;
/** Characters; a longer text is not remembered. */
const longest = 16_384;

export class Statements {
  readonly #known = new Map<string, Statement>();
  #named = 0;

  /** Null for a text that is too long to be remembered. */
  of(text: string): Statement | null {
    let statement = this.#known.get(text);
    if (statement === undefined) {
      if (text.length > longest) return null;
      statement = new Statement(text);
      if (this.#known.size >= most) this.#known.delete(this.#known.keys().next().value!);
      this.#known.set(text, statement);
    }
    return statement;
  }

  /**
   * Gives a statement a name. A server keeps what is prepared for as long as the connection lives, so only so many get one: undefined for
   * all others.
   */
  prepare(statement: Statement): string | undefined {
    if (statement.name === undefined && this.#named < most) {
      this.#named++;
      statement.name = `millrace_${this.#named}`;
    }
    return statement.name;
  }
}
