// What `millrace/auto` does in mode observe.
import { startObserving } from 'millrace/observe';

const { MILLRACE_OBSERVE_JSON } = process.env;
startObserving({ json: MILLRACE_OBSERVE_JSON ?? null });
