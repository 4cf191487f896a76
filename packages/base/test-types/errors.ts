// Errors and `native` as users' compilers see them.
import { type ErrorCode, MillraceError, native } from 'millrace';

const error = new MillraceError('MILLRACE_E_CLOSED', 'closed', { cause: new Error('cause') });
const code: ErrorCode = error.code;
const base: Error = error;
// @ts-expect-error: no such code
new MillraceError('MILLRACE_E_OTHER', 'other');
// @ts-expect-error: a code stays what it is
error.code = 'MILLRACE_E_CANCELLED';

function handle(caught: unknown): string {
  if (!(caught instanceof MillraceError)) throw caught;
  switch (caught.code) {
    case 'MILLRACE_E_OVERLOADED':
      return 'later';
    // @ts-expect-error: no such code
    case 'MILLRACE_E_BUSY':
      return 'never';
    default:
      return caught.message;
  }
}

const version: string | undefined = native?.version;

void [code, base, handle, version];
