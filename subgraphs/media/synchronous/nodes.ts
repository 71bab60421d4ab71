import { UpstreamError } from '../domain/failure.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { MachineFacts, NodeLoad } from '../providers/contract/provider.ts';
import { bindingsWith, firstAnswer } from './capable-bindings.ts';

/** The generator of the machines. */
const GENERATOR = 'comfy';
const TIMEOUT_MS = 15_000;

/**
 * The least busy machine that has room for so many tasks, null when none has. Below 1 counts as 1. Not a reservation:
 * a moment later it may be taken.
 */
export async function runningNode(registry: GeneratorRegistry, taskCount: number): Promise<NodeLoad | null> {
  const bindings = bindingsWith(registry, GENERATOR, 'nodes');
  const nodes = await firstAnswer(bindings, ({ provider, connection }) =>
    provider.nodes({ connection, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  );
  const needed = Math.max(1, taskCount);
  const free = nodes.filter((node) => node.capacity - sumLoad(node) >= needed);
  return free.sort((one, other) => sumLoad(one) - sumLoad(other))[0] ?? null;
}

function sumLoad({ running, pending }: NodeLoad): number {
  return running + pending;
}

/** A ComfyUI server of a binding; without a load when it does not answer. */
export interface ComfyServer {
  readonly binding: string;
  readonly address: string;
  readonly load: NodeLoad | null;
  /** Asks it what it is and has; null when it does not answer. */
  readonly facts: (signal: AbortSignal) => Promise<MachineFacts | null>;
}

/** Time that a server has to tell how busy it is. */
const SERVERS_TIMEOUT_MS = 5_000;

/** The servers of every binding that has some, each asked now. */
export async function comfyServers(
  registry: GeneratorRegistry,
  signal: AbortSignal,
): Promise<readonly ComfyServer[]> {
  const pools = registry.all().map(async ({ name: binding, provider, connection }) => {
    if (provider.nodes === undefined) return [];
    const within = AbortSignal.any([signal, AbortSignal.timeout(SERVERS_TIMEOUT_MS)]);
    const loads = await provider.nodes({ connection, signal: within }).catch(() => []);
    const addresses = connection.nodes.length === 0 ? [connection.baseUrl] : connection.nodes;
    return addresses.map((address) => ({
      binding,
      address,
      load: loads.find(({ node }) => node === address.replace(/\/+$/, '')) ?? null,
      facts: (asking: AbortSignal) => readFacts({ provider, connection }, address, asking),
    }));
  });
  return (await Promise.all(pools)).flat();
}

async function readFacts(
  { provider, connection }: Pick<Binding, 'provider' | 'connection'>,
  address: string,
  signal: AbortSignal,
): Promise<MachineFacts | null> {
  if (provider.machine === undefined) return null;
  const within = AbortSignal.any([signal, AbortSignal.timeout(SERVERS_TIMEOUT_MS)]);
  try {
    return await provider.machine({ connection: { ...connection, baseUrl: address }, signal: within });
  } catch (error) {
    if (error instanceof UpstreamError || within.aborted) return null;
    throw error;
  }
}
