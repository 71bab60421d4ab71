import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { createCatalog } from '../catalog.ts';
import { comparedProviders, compareModels, modelTable, type Finding } from './compare.ts';

/**
 * `npm run catalog -- --table FILE [--file CATALOG_FILE] [--date YYYY-MM-DD]`: compares the catalog with a table of models (LiteLLM's
 * model_prices_and_context_window_backup.json). Exits with 1 when a default has ended or a price differs.
 */

const { values } = parseArgs({
  options: { table: { type: 'string' }, file: { type: 'string' }, date: { type: 'string' } },
});
const text = (path: string): string => readFileSync(path, 'utf8');
const file = values.file === undefined ? null : { path: values.file, text: text(values.file) };
const catalog = createCatalog({ file, date: values.date ?? null });
const table = modelTable.parse(values.table === undefined ? {} : JSON.parse(text(values.table)));

const findings = comparedProviders.flatMap((provider) =>
  compareModels(provider, catalog.modelsOf(provider), { table, today: catalog.today() }).map((finding) => ({
    ...finding,
    provider,
  })),
);
const SERIOUS: readonly Finding['kind'][] = ['ended default', 'price differs'];
for (const [kind, all] of Map.groupBy(findings, (finding) => finding.kind)) {
  process.stdout.write(`${kind}: ${all.length}\n`);
  for (const { provider, model, text: what } of all)
    process.stdout.write(`  ${provider} ${model}: ${what}\n`);
}
const serious = findings.filter(({ kind }) => SERIOUS.includes(kind)).length;
process.stdout.write(`${serious} ended defaults and wrong prices\n`);
process.exitCode = serious > 0 ? 1 : 0;
