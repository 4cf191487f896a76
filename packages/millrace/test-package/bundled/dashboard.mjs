import { serveDashboard } from 'millrace/dashboard';
import { main } from '../../../../scripts/lib/bundled/main.mjs';

main(async () => {
  const dashboard = await serveDashboard({ port: 0 });
  const paths = ['', 'uplot.js', 'uplot.css'];
  const answers = await Promise.all(paths.map((path) => fetch(`${dashboard.url}${path}`)));
  await dashboard.close();
  return { statuses: answers.map(({ status }) => status) };
});
