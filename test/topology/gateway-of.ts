import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { freePorts, isReady, type Program, startNode, temporaryFolder } from './processes.ts';

/** A gateway of another graph, as an operator runs it. */
export interface OtherGateway {
  readonly url: string;
  readonly program: Program;
  readonly folder: string;
  end(): Promise<void>;
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
export async function startGatewayOf(options: OtherGatewayOptions): Promise<OtherGateway> {
  const { supergraph, config, settings = {}, files = {}, isComposed = false } = options;
  const folder = await temporaryFolder();
  const file = (name: string) => path.join(folder.path, name);
  const graph = file(isComposed ? 'subgraphs.yaml' : 'supergraph.graphql');
  await writeFile(graph, supergraph);
  for (const [name, text] of Object.entries(files)) await writeFile(file(name), text);
  if (config !== undefined) await writeFile(file('gateway.yaml'), config);
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  try {
    const program = await startNode(
      path.resolve(import.meta.dirname, '../../gateway/main.ts'),
      [
        '--role',
        'gateway',
        isComposed ? '--subgraphs' : '--supergraph',
        graph,
        ...(config === undefined ? [] : ['--config', file('gateway.yaml')]),
      ],
      { settings: { PORT: String(port), RATE_LIMIT: 'off', ...settings }, ready: () => isReady(url) },
    );
    return {
      url,
      program,
      folder: folder.path,
      async end() {
        await program.end();
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
export function yamlOf(
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
