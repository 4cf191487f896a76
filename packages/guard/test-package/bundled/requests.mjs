import { RequestWatch } from '@millrace/guard/requests';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const watch = new RequestWatch(100);
  watch.ran(watch.routeOf('GET', '/users/7'), 1, 1, 0);
  return { routes: watch.routes().map(({ name }) => name) };
});
