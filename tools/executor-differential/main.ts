import { parseArgs } from 'node:util';

import { runCampaign } from './campaign.ts';
import { runLocalCampaign } from './local/local-campaign.ts';
import { localSubjects } from './local/subjects.ts';
import { federatedSources } from './schemas/index.ts';
import { createWorld } from './world.ts';

/**
 * `npm run diff -- --cases N --seed S`: random operations with random faults, over made-up data. Holds the gateway's
 * executor against Apollo's; with --local that of subgraphs in this process against graphql-js. Prints the smallest
 * operation that shows a difference, and ends with 1 when there is one.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    /** Names of federated schemas; all when none is given. */
    schema: { type: 'string', multiple: true },
    local: { type: 'boolean', default: false },
  },
});

const startedAt = performance.now();
const campaign = { cases: Number(values.cases), seed: Number(values.seed) };
const { differences, ...counts } = values.local
  ? await runLocalCampaign({ ...campaign, subjects: localSubjects() })
  : await runCampaign({ ...campaign, worlds: chosenSources().map(createWorld) });
for (const difference of differences) process.stdout.write(`${difference}\n\n`);
const seconds = Math.round((performance.now() - startedAt) / 1000);
process.stdout.write(`${JSON.stringify(counts)}, ${differences.length} differences, ${seconds} s\n`);
if (differences.length > 0) process.exitCode = 1;

function chosenSources() {
  return federatedSources.filter(({ name }) => values.schema?.includes(name) ?? true);
}
