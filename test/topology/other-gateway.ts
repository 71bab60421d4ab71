import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { startGatewayAlone } from '../../gateway/composition/gateway-alone.ts';
import { until } from '../kit/clients/requests.ts';
import { startInside } from './inside.ts';
import { isReady, temporaryFolder } from './places.ts';

/** A gateway of another graph inside the test's process; gateway-file.test.ts runs its program. */
export interface GatewayAlone {
  readonly url: string;
  /** Everything that it has logged. */
  output(): string;
  end(): Promise<void>;
}

/** Starts it by the words of its command line and its settings, and waits until it is ready. */
export async function startGateway(
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<GatewayAlone> {
  const environment = { PORT: '0', RATE_LIMIT: 'off', ...settings };
  const { started, output, end } = await startInside(startGatewayAlone, environment, [
    '--role',
    'gateway',
    ...words,
  ]);
  await until(() => isReady(started.url), Boolean).catch(async (thrown: unknown) => {
    await end();
    throw thrown;
  });
  return { url: started.url, output, end };
}

/** A gateway over files of its own, as an operator writes them. */
export interface OtherGateway extends GatewayAlone {
  readonly folder: string;
}

export interface OtherGatewayOptions {
  /** The text of its supergraph, or of the file for `--subgraphs`. */
  readonly supergraph: string;
  /** Whether it is the latter. */
  readonly isComposed?: boolean;
  /** The text of its configuration (default: none). */
  readonly config?: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Files beside the configuration, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Starts it, and waits until it is ready. */
export async function startOtherGateway(options: OtherGatewayOptions): Promise<OtherGateway> {
  const { supergraph, config, settings, files = {}, isComposed = false } = options;
  const folder = await temporaryFolder();
  const file = (name: string) => path.join(folder.path, name);
  const graph = file(isComposed ? 'subgraphs.yaml' : 'supergraph.graphql');
  await writeFile(graph, supergraph);
  for (const [name, text] of Object.entries(files)) await writeFile(file(name), text);
  if (config !== undefined) await writeFile(file('gateway.yaml'), config);
  const words = [
    isComposed ? '--subgraphs' : '--supergraph',
    graph,
    ...(config === undefined ? [] : ['--config', file('gateway.yaml')]),
  ];
  try {
    const gateway = await startGateway(words, settings);
    return {
      ...gateway,
      folder: folder.path,
      async end() {
        await gateway.end();
        await folder.remove();
      },
    };
  } catch (thrown) {
    await folder.remove();
    throw thrown;
  }
}

const page = readFileSync(path.join(import.meta.dirname, '../../docs/gateway.md'), 'utf8');

/** The example of docs/gateway.md that has this line, and that text, with other addresses. */
export function writeYaml(
  firstLine: string,
  replaced: Readonly<Record<string, string>> = {},
  having = '',
): string {
  const examples = [...page.matchAll(/```yaml\n(.*?) *```/gs)].map(([, text]) => text ?? '');
  const found = examples.find(
    (text) => text.includes(having) && text.split('\n').some((line) => line.startsWith(firstLine)),
  );
  if (found === undefined) throw new Error(`docs/gateway.md has no example with the line ${firstLine}`);
  return Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), found);
}

/** What a pattern finds in docs/gateway.md. */
export function inDocs(pattern: RegExp): string {
  const found = pattern.exec(page)?.[1];
  if (found === undefined) throw new Error(`docs/gateway.md has nothing like ${String(pattern)}`);
  return found;
}
