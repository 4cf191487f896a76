import { guard } from '@millrace/guard';

export const classes = {
  'POST /checkout': 'high',
  'GET /item': 'normal',
  'GET /report': 'low',
  '/health': 'exempt',
};

export default {
  install: (app) => app.decorate('guard', guard(app.server, { classes })),
};
