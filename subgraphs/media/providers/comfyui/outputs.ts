import type { CallContext, Outcome, RemoteFile } from '../contract/provider.ts';
import { buildUrl } from '../shared/exchange.ts';

/**
 * The outputs of a graph. Every node has lists of items under names of its choice: `images` (images, and the MP4 of
 * core's SaveVideo), `gifs` (videos of VHS_VideoCombine), `audio`, `text`. Each item names its file.
 */

interface Item {
  readonly filename: string;
  readonly subfolder: string;
  readonly type: string;
}

const MAX_FILES = 64;
const MAX_TEXTS = 64;
const MAX_TEXT = 100_000;

/**
 * Files to download from the server, and texts. Previews (`temp`) count only when nothing was saved. `wanted`: the only nodes whose
 * outputs count, in this order.
 */
export function readOutcome(
  outputs: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>,
  context: CallContext,
  wanted?: readonly string[],
): Outcome {
  const counted =
    wanted === undefined
      ? Object.entries(outputs)
      : wanted.map((node) => [node, outputs[node] ?? null] as const);
  const values = counted.flatMap(([node, output]) =>
    Object.entries(output ?? {}).map(([name, list]) => ({ node, name, list })),
  );
  const items = values.flatMap(({ node, list }) =>
    Array.isArray(list) ? list.flatMap(readItem).map((item) => ({ node, item })) : [],
  );
  const saved = items.filter(({ item }) => item.type === 'output');
  const shown = saved.length > 0 ? saved : items.filter(({ item }) => item.type === 'temp');
  const files = [...new Map(shown.map((one) => [JSON.stringify(one.item), one])).values()].slice(
    0,
    MAX_FILES,
  );
  const texts = values
    .flatMap(({ node, name, list }) =>
      name === 'text' ? readTexts(list).map((text) => ({ node, text })) : [],
    )
    .slice(0, MAX_TEXTS);
  return {
    files: files.map(({ item }) => toRemoteFile(item, context)),
    texts: texts.map(({ text }) => text),
    facts: { fileNodes: files.map(({ node }) => node), textNodes: texts.map(({ node }) => node) },
  };
}

function readItem(value: unknown): Item[] {
  if (typeof value !== 'object' || value === null || !('filename' in value)) return [];
  const { filename, subfolder = '', type = 'output' } = value as Readonly<Record<string, unknown>>;
  if (typeof filename !== 'string' || filename === '') return [];
  return [
    {
      filename,
      subfolder: typeof subfolder === 'string' ? subfolder : '',
      type: typeof type === 'string' ? type : 'output',
    },
  ];
}

function toRemoteFile({ filename, subfolder, type }: Item, { connection }: CallContext): RemoteFile {
  const query = new URLSearchParams({ filename, subfolder, type });
  const url = buildUrl(connection, `/view?${query.toString()}`);
  return Object.keys(connection.headers).length === 0 ? { url } : { url, headers: connection.headers };
}

function readTexts(list: unknown): string[] {
  const values: unknown[] = Array.isArray(list) ? list : [list];
  return values.flatMap((text) => (typeof text === 'string' ? [text.slice(0, MAX_TEXT)] : []));
}
