import { graphql } from '../../../test/kit/clients/requests.ts';
import type { SandboxProcess } from '../../../test/kit/processes/sandbox-process.ts';
import { startTopology, type Topology } from '../../chaos/topology.ts';
import type { BenchTools } from '../bench.ts';
import { openDoor, type Door } from './door.ts';

/** A split Kiln with three workers, whose provider is behind a door. */
export interface Scene {
  readonly topology: Topology;
  readonly door: Door;
}

/** Starts it; `settings` are told where the provider is. */
export async function startScene(
  { lifecycle }: BenchTools,
  settings: (providerUrl: string) => Promise<Readonly<Record<string, string>>>,
): Promise<Scene> {
  const opened: Door[] = [];
  const topology = await startTopology({
    settings: async ({ url, wires }: SandboxProcess) => {
      const door = await openDoor(url);
      opened.push(door);
      lifecycle.add('door', () => door.shut());
      // Results are fetched beside the door.
      const open = { REST_AUTH: 'open', OUTBOUND_ALLOW: new URL(url).host };
      return { ...open, ...(await settings(wires.midjourney.replace(url, door.url))) };
    },
  });
  lifecycle.add('topology', () => topology.close());
  const [door] = opened;
  if (door === undefined) throw new Error('no door was opened');
  return { topology, door };
}

/** Submits images of a generator, ten at a time, at both gateways; answers their ids. */
export async function submitImages(
  { gateways }: Topology,
  generator: string,
  count: number,
): Promise<readonly string[]> {
  const mutation = `mutation ($generator: String!, $prompt: String!) {
    generateImage(input: { generator: $generator, prompt: $prompt }) { id } }`;
  const ids: string[] = [];
  while (ids.length < count) {
    const batch = Array.from({ length: Math.min(10, count - ids.length) }, async (_, index) => {
      const url = gateways[index % 2] ?? gateways[0];
      const { data, errors } = await graphql(url, mutation, { generator, prompt: `image ${index}` });
      if (errors !== undefined) throw new Error(`not accepted: ${JSON.stringify(errors)}`);
      return data.generateImage.id as string;
    });
    // oxlint-disable-next-line eslint/no-await-in-loop -- a few at a time
    ids.push(...(await Promise.all(batch)));
  }
  return ids;
}

/** How many tasks are in each state. */
export async function countStates({ database }: Topology): Promise<Readonly<Record<string, number>>> {
  const rows = await database.rows<{ state: string; count: number }>(
    'select state, count(*)::integer as count from media.tasks group by state',
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}
