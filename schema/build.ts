import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { validateComfyFace } from '../faces/comfy/face.ts';
import { validateFace } from '../faces/openai/routes.ts';
import { settingsTable } from '../platform/config/config.ts';
import { buildOpenApi } from '../rest-compat/openapi/openapi.ts';
import { sections, validateRoutes } from '../rest-compat/tables.ts';
import { catalogFileSchema, catalogPageSchema } from '../subgraphs/media/generators/catalog/entry.ts';
import { mediaSchema } from '../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../subgraphs/workflow/schema/index.ts';
import { errorsPage } from './errors-page.ts';
import {
  apiSchemaOf,
  breakingChanges,
  clientSdl,
  composeSupergraph,
  introspectionTypes,
  subgraphSdl,
  type SubgraphSource,
} from './generate.ts';
import { policyPage } from './policy-page.ts';
import { collectPolicy, rootFieldRules } from './policy.ts';

/**
 * `npm run schema` writes the contracts of this folder and docs/policy.md, settings.md and errors.md from the code; with `-- --check` it fails
 * when one of them is stale, and names what would break callers.
 */

const SUPERGRAPH = 'supergraph.graphql';
const CATALOG = '../subgraphs/media/generators/catalog';

const media: SubgraphSource = { name: 'media', url: 'http://media:4001/graphql', schema: mediaSchema };
const workflow: SubgraphSource = {
  name: 'workflow',
  url: 'http://workflow:4002/graphql',
  schema: workflowSchema,
};

const supergraph = composeSupergraph([media, workflow]);

/** The generated files. A new contract is one more line. */
const generatedFiles: readonly { readonly name: string; readonly content: () => string }[] = [
  { name: 'media.graphql', content: () => subgraphSdl(media) },
  { name: 'workflow.graphql', content: () => subgraphSdl(workflow) },
  { name: SUPERGRAPH, content: () => supergraph },
  {
    name: 'root-field-rules.json',
    content: () => jsonOf(rootFieldRules(collectPolicy([media, workflow], sections))),
  },
  { name: 'client.graphql', content: () => clientSdl(supergraph, [media, workflow]) },
  {
    name: '../rest-compat/documents/introspection.d.ts',
    content: () => introspectionTypes(supergraph, [media, workflow]),
  },
  { name: 'openapi-media.json', content: () => jsonOf(buildOpenApi('media', sections)) },
  { name: 'openapi-workflow.json', content: () => jsonOf(buildOpenApi('workflow', sections)) },
  { name: `${CATALOG}/catalog.schema.json`, content: () => jsonOf(catalogPageSchema()) },
  { name: `${CATALOG}/catalog-file.schema.json`, content: () => jsonOf(catalogFileSchema()) },
  { name: '../docs/policy.md', content: () => policyPage(collectPolicy([media, workflow], sections)) },
  { name: '../docs/settings.md', content: settingsPage },
  { name: '../docs/errors.md', content: errorsPage },
];

function jsonOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function checkedIn(name: string): string | null {
  try {
    return readFileSync(path.join(import.meta.dirname, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function run(isCheck: boolean): void {
  const files = generatedFiles.map(({ name, content }) => ({
    name,
    before: checkedIn(name),
    after: content(),
  }));
  const stale = files.filter(({ before, after }) => before !== after);
  const changed = stale.find(({ name, before }) => name === SUPERGRAPH && before !== null);
  const broken = changed === undefined ? [] : breakingChanges(changed.before ?? '', changed.after);

  for (const change of broken) process.stderr.write(`breaks callers: ${change}\n`);
  if (isCheck && stale.length > 0) {
    const names = stale.map(({ name }) => path.posix.join('schema', name)).join(', ');
    process.stderr.write(`not what the code says: ${names}. Run npm run schema and review the difference.\n`);
    process.exitCode = 1;
    return;
  }
  for (const { name, after } of stale) writeFileSync(path.join(import.meta.dirname, name), after);
  const done = stale.length === 0 ? 'nothing to write' : `wrote ${stale.map(({ name }) => name).join(', ')}`;
  process.stdout.write(`schema: ${files.length} contracts, ${done}\n`);
}

const apiSchema = apiSchemaOf(supergraph);
const faults = [
  ...validateRoutes(apiSchema, sections),
  ...validateFace(apiSchema),
  ...validateComfyFace(apiSchema),
];
if (faults.length > 0) throw new Error(`documents that do not fit the schema:\n${faults.join('\n')}`);
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
run(values.check);

/** docs/settings.md: every setting with its default and its meaning, from the table that reads them. */
function settingsPage(): string {
  const rows = settingsTable().map(
    ({ name, default: standard, meaning }) =>
      `| ${name} | ${standard} | ${meaning.replaceAll('|', String.raw`\|`)} |`,
  );
  return [...introduction, '| name | default | meaning |', '|---|---|---|', ...rows, '', ...readOn, ''].join(
    '\n',
  );
}

const introduction = [
  '# Settings',
  '',
  '<!-- Generated by `npm run schema` from platform/config/settings. Do not edit. -->',
  '',
  'Kiln reads them from the environment. `npm start` also reads `.env`; what is set in the environment wins. `.env.example` is this table as such',
  'a file. Empty counts as unset. Every problem is listed at once and stops the start.',
  '',
  "While nothing real is configured, the sandbox stands in for the outside world: it speaks the providers' own wire protocols, so the same",
  'adapters run against it and against the real services. Once anything real is configured, REST_AUTH must be set.',
  '',
];

const readOn = [
  'Details: bindings of GENERATORS_FILE ([generators-file.md](generators-file.md)), files in S3 ([object-storage.md](object-storage.md)), processes',
  'and containers ([deployment.md](deployment.md)), sign-in ([sign-in.md](sign-in.md)), payments ([selling.md](selling.md)), what the wire of each',
  'upstream rests on ([upstream-protocols.md](upstream-protocols.md)).',
];
