import { parseArgs } from 'node:util';

import { runCampaign } from './campaign.ts';
import { federatedSources } from './schemas/index.ts';
import { createWorld } from './world.ts';

/**
 * `npm run diff -- --cases N --seed S`: holds the gateway's executor against Apollo's with random operations, random
 * faults and made-up data, and prints the smallest operation that shows a difference. Ends with 1 when there is one.
 */
const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    schema: { type: 'string', multiple: true },
  },
});

const chosen = federatedSources.filter(({ name }) => values.schema?.includes(name) ?? true);
const startedAt = performance.now();
const { differences, ...counts } = await runCampaign({
  worlds: chosen.map(createWorld),
  cases: Number(values.cases),
  seed: Number(values.seed),
});
for (const difference of differences) process.stdout.write(`${difference}\n\n`);
const seconds = Math.round((performance.now() - startedAt) / 1000);
process.stdout.write(
  `${counts.cases} cases (${counts.withErrors} with errors, ${counts.withDeviations} with values that break the schema), ` +
    `${differences.length} differences, ${seconds} s\n`,
);
if (differences.length > 0) process.exitCode = 1;
