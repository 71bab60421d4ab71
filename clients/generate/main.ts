import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { buildASTSchema, type GraphQLSchema, parse } from 'graphql';

import { readModels } from './catalog.ts';
import { modelsModule } from './python.ts';
import { readSelection, readStarts } from './selection.ts';
import { catalogModule, type Graph, graphModule } from './typescript.ts';

/**
 * `npm run clients` writes the clients' types from what Kiln says of itself: schema/media.graphql, the catalog's JSON
 * Schemas and the codes of docs/errors.md. With `-- --check` it fails when one of the written files is stale.
 */

const root = path.join(import.meta.dirname, '../..');

function read(name: string): string {
  return readFileSync(path.join(root, name), 'utf8');
}

/** The members of `MediaInput` that a client sends as JSON: files go by `upload` first. */
function withoutUploads(sdl: string): GraphQLSchema {
  const document = parse(
    sdl.replace(/ {2}"""The file itself, in a multipart request\."""\n {2}upload: Upload\n/, ''),
  );
  return buildASTSchema(document, { assumeValid: true });
}

/** The codes of requests and of documents, which stand in the first two tables of the page. */
function readCodes(page: string): readonly string[] {
  const [ofRequests = ''] = page.split('## Of tasks');
  return [...ofRequests.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code = '']) => code);
}

function readGraph(): Graph {
  const schema = withoutUploads(read('schema/media.graphql'));
  return {
    schema,
    starts: readStarts(schema),
    selection: readSelection(schema, parse(read('clients/graph.graphql'))),
    codes: readCodes(read('docs/errors.md')),
  };
}

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const graph = readGraph();
const files: Readonly<Record<string, string>> = {
  'clients/typescript/src/graph.ts': graphModule(graph),
  'clients/typescript/src/catalog.ts': catalogModule(
    readModels(path.join(root, 'subgraphs/media/generators/catalog/models')),
  ),
  'clients/python/kiln_client/models.py': modelsModule(graph),
};
for (const [name, content] of Object.entries(files)) {
  if (!values.check) writeFileSync(path.join(root, name), content);
  else if (read(name) !== content) {
    process.stderr.write(`${name} is stale. Run npm run clients.\n`);
    process.exitCode = 1;
  }
}
