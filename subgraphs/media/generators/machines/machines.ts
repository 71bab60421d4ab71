import { sql } from 'kysely';

import type { Caller } from '../../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { followChanges } from '../../../../platform/events/follow-changes.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { ClosedNode } from '../../providers/contract/provider.ts';
import type { Binding } from '../bindings/binding.ts';

/** Machines of pools that administrators give no new work. Every process learns of it. */
export interface Machines {
  /** The same bindings; their wires know which machines are closed, and one with no other machine is paused. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** Null: it takes work. */
  of(address: string): ClosedMachine | null;
  /** Gives a machine no new work. NOT_FOUND for an address of no pool, BAD_USER_INPUT for a long reason. */
  close(
    caller: Caller,
    address: string,
    how: { readonly state: ClosedNode; readonly reason: string },
  ): Promise<void>;
  /** Gives it work again. NOT_FOUND. */
  open(address: string): Promise<void>;
  /** Reads what is closed: once before work begins. */
  load(): Promise<void>;
  stop(): void;
}

/** Why a machine gets no new work. */
export interface ClosedMachine {
  readonly address: string;
  readonly state: ClosedNode;
  readonly reason: string;
  /** Id of the administrator. */
  readonly closedBy: string;
  readonly closedAt: Date;
}

const TOPIC = 'closed-machines';
/** Longest time that a lost wake-up goes unnoticed. */
const MAX_AGE_MS = 10_000;
const MAX_REASON = 200;
/** Most rows: one for each machine that is configured, and those that were. */
const MAX_MACHINES = 1_000;

/** Makes the states of the machines in one process. */
export function createMachines({
  database,
  bus,
  logger,
}: {
  readonly database: MediaDatabase;
  readonly bus: EventBus;
  readonly logger: Logger;
}): Machines {
  let closed: ReadonlyMap<string, ClosedMachine> = new Map();
  let states: ReadonlyMap<string, ClosedNode> = new Map();
  let addresses: ReadonlySet<string> = new Set();
  let readAt = performance.now();
  const load = async (): Promise<void> => {
    readAt = performance.now();
    closed = await readClosed(database);
    states = new Map([...closed].map(([address, { state }]) => [address, state]));
  };
  const problem = 'which machines are closed could not be read';
  const { reload, changed, stop } = followChanges({ bus, logger, topic: TOPIC, load, problem });
  const current = (): ReadonlyMap<string, ClosedNode> => {
    if (performance.now() - readAt > MAX_AGE_MS) reload();
    return states;
  };
  const known = (sent: string): string => {
    const address = sent.replace(/\/+$/, '');
    if (!addresses.has(address)) throw notFound('machine', sent);
    return address;
  };
  return {
    watch(bindings) {
      addresses = new Set(bindings.flatMap(listMachines));
      return bindings.map((binding) => closing(binding, current));
    },
    of: (address) => (current().has(address) ? (closed.get(address) ?? null) : null),
    async close({ id }, sent, { state, reason: text }) {
      const address = known(sent);
      const reason = checkedReason(text);
      await writeClosed(database, { address, state, reason, closedBy: id });
      await changed();
    },
    async open(sent) {
      const address = known(sent);
      await database.deleteFrom('media.closedMachines').where('address', '=', address).execute();
      await changed();
    },
    load,
    stop,
  };
}

function checkedReason(text: string): string {
  const reason = text.trim();
  if (reason.length > MAX_REASON) throw badInput('reason', `may have at most ${MAX_REASON} characters`);
  return reason;
}

async function writeClosed(
  database: MediaDatabase,
  { address, state, reason, closedBy }: Omit<ClosedMachine, 'closedAt'>,
): Promise<void> {
  await sql`/* machines.close */ insert into media.closed_machines (address, state, reason, closed_by)
    values (${address}, ${state}, ${reason}, ${closedBy})
    on conflict (address) do update set state = excluded.state, reason = excluded.reason,
      closed_by = excluded.closed_by, closed_at = now()`.execute(database);
}

async function readClosed(database: MediaDatabase): Promise<ReadonlyMap<string, ClosedMachine>> {
  const rows = await database.selectFrom('media.closedMachines').selectAll().limit(MAX_MACHINES).execute();
  return new Map(rows.map((row) => [row.address, { ...row, state: row.state as ClosedNode }]));
}

/** The addresses of a binding's machines; none where its wire has no pool. */
function listMachines({ provider, connection }: Binding): readonly string[] {
  if (provider.nodes === undefined) return [];
  const all = connection.nodes.length === 0 ? [connection.baseUrl] : connection.nodes;
  return all.map((address) => address.replace(/\/+$/, ''));
}

function closing(binding: Binding, closedNodes: () => ReadonlyMap<string, ClosedNode>): Binding {
  const own = listMachines(binding);
  if (own.length === 0) return binding;
  return {
    ...binding,
    connection: { ...binding.connection, closedNodes },
    isPaused: () => binding.isPaused?.() === true || own.every((address) => closedNodes().has(address)),
  };
}
