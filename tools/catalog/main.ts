import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { readConfig } from '../../platform/config/config.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createCatalog } from '../../subgraphs/media/generators/catalog/catalog.ts';
import { bundledBindings } from '../../subgraphs/media/generators/configuration/bundled-bindings.ts';
import { withGeneratorsFile } from '../../subgraphs/media/generators/configuration/generators-file.ts';
import { createProviders } from '../../subgraphs/media/providers/registry.ts';
import { comparedProviders, compareModels, modelTable, type Finding } from './compare-models.ts';
import { compareWithVendors } from './compare-vendors.ts';

/**
 * `npm run catalog [-- --table FILE] [--file CATALOG_FILE] [--date YYYY-MM-DD]`: compares the catalog with the lists of the vendors whose
 * keys are set, and with a table of models (LiteLLM's model_prices_and_context_window_backup.json). Exits with 1 when a default has
 * ended, a price differs, or a list can't be read.
 */

const { values } = parseArgs({
  options: { table: { type: 'string' }, file: { type: 'string' }, date: { type: 'string' } },
});
const text = (path: string): string => readFileSync(path, 'utf8');
const { providers: settings } = readConfig();
const file =
  values.file === undefined ? settings.catalogFile : { path: values.file, text: text(values.file) };
const catalog = createCatalog({ file, date: values.date ?? settings.catalogDate });
const table = modelTable.parse(values.table === undefined ? {} : JSON.parse(text(values.table)));

const http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
const providers = createProviders({ http });
const bundled = bundledBindings({ sandboxUrls: null, settings, providers, catalog });
const { generatorsFile } = settings;
const { bindings } =
  generatorsFile === null
    ? bundled
    : withGeneratorsFile(bundled, { file: generatorsFile, providers, catalog });

const ofTable = comparedProviders.flatMap((provider) =>
  compareModels(provider, catalog.listModels(provider), { table, today: catalog.today() }).map((finding) => ({
    ...finding,
    provider,
  })),
);
const ofLists = await compareWithVendors({ bindings, http, today: catalog.today() });
const { findings: ofVendors, notes, unread } = ofLists;
await http.close();
for (const note of notes) process.stdout.write(`${note}\n`);
const findings = [...ofVendors, ...ofTable];
const SERIOUS: readonly Finding['kind'][] = ['ended default', 'price differs'];
for (const [kind, all] of Map.groupBy(findings, (finding) => finding.kind)) {
  process.stdout.write(`${kind}: ${all.length}\n`);
  for (const { provider, model, text: what } of all)
    process.stdout.write(`  ${provider} ${model}: ${what}\n`);
}
const serious = findings.filter(({ kind }) => SERIOUS.includes(kind)).length;
process.stdout.write(`${serious} ended defaults and wrong prices, ${unread} lists that can't be read\n`);
process.exitCode = serious > 0 || unread > 0 ? 1 : 0;
