import { z } from 'zod';

import type { CallContext, MachineFacts } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { createReader, number } from '../shared/reader.ts';
import { toPromptError } from './failures.ts';
import type { Inventories } from './inventories.ts';
import { listedModels, lastModels } from './inventory.ts';
import { readQueue } from './status.ts';
import { graphIn, parseHistories, type HistoryEntry, throwHttpRefusal } from './wire.ts';

/** What a server is and has, for administrators. */

const TIMEOUT_MS = 5_000;
/** Ended prompts among which failures are looked for. */
const LAST_PROMPTS = 40;
const MAX_HISTORY = 32 << 20;
const MAX_ERRORS = 5;
/** Milliseconds that an inventory may be old. */
const MAX_AGE_MS = 30_000;

const { read } = createReader('comfyui');
const stats = z.object({
  system: z
    .object({
      comfyui_version: z.string().nullish(),
      python_version: z.string().nullish(),
      pytorch_version: z.string().nullish(),
    })
    .catch({}),
  devices: z
    .array(
      z.object({
        name: z.string().catch(''),
        type: z.string().catch(''),
        vram_total: number,
        vram_free: number,
      }),
    )
    .catch([]),
});

/** Asks a server for all of it at once. */
export async function machineFacts(
  { exchange, inventories }: { readonly exchange: Exchange; readonly inventories: Inventories },
  context: CallContext,
): Promise<MachineFacts> {
  const get = { method: 'GET', timeoutMs: TIMEOUT_MS } as const;
  const [systemStats, history, queue, inventory] = await Promise.all([
    exchange(context, { ...get, path: '/system_stats' }),
    exchange(context, { ...get, path: `/history?max_items=${LAST_PROMPTS}`, maxBytes: MAX_HISTORY }),
    readQueue(exchange, context),
    inventories.read(context, MAX_AGE_MS),
  ]);
  for (const answer of [systemStats, history]) throwHttpRefusal(answer);
  const { system, devices } = read(stats, systemStats);
  const entries = parseHistories(history);
  const ran = entries.map(({ prompt }) => ({ graph: graphIn(prompt[2]) }));
  const models = [...listedModels(inventory ?? new Map())];
  return {
    versions: readVersions(system),
    devices: devices.map(({ name, type, vram_total: total, vram_free: free }) => ({
      name,
      type,
      totalBytes: total ?? null,
      freeBytes: free ?? null,
    })),
    classes: [...(inventory?.keys() ?? [])].sort(),
    models: models.map(([loader, files]) => ({ loader, files })),
    loaded: [...(lastModels([...ran, ...queue.running]) ?? [])],
    errors: entries.toReversed().flatMap(readErrors).slice(0, MAX_ERRORS),
  };
}

function readVersions(system: z.output<typeof stats>['system']): Readonly<Record<string, string>> {
  const named = {
    ComfyUI: system.comfyui_version,
    Python: system.python_version?.split(' ', 1)[0],
    PyTorch: system.pytorch_version,
  };
  return Object.fromEntries(
    Object.entries(named).flatMap(([name, version]) => (version ? [[name, version] as const] : [])),
  );
}

/** A prompt that was stopped is no failure. */
function readErrors({ status }: HistoryEntry): MachineFacts['errors'] {
  if (status?.status_str !== 'error') return [];
  const details = graphIn(status.messages.findLast(([name]) => name === 'execution_error')?.[1]);
  const { node_type: node, timestamp } = details;
  if (Object.keys(details).length === 0) return [];
  return [
    {
      at: typeof timestamp === 'number' ? new Date(timestamp) : null,
      node: typeof node === 'string' ? node : null,
      message: toPromptError(status.messages).message,
    },
  ];
}
