import { readExperiment } from '@millrace/lab/experiment';

export const checks = {
  'a-new-one': ({ isOn, ...file }) => readExperiment(file, 'cache'),
};
